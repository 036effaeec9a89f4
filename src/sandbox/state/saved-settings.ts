import { toJson } from '../../core/json.ts'
import { type Db, statement } from './database.ts'

/** Small named values that survive a restart: clock, settings, and the secret of download URLs. */
export class SavedSettings {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  get(name: string): unknown {
    const text = statement<[string], string>(this.#db, 'SELECT value FROM settings WHERE name = ?').pluck().get(name)
    return text === undefined ? undefined : JSON.parse(text)
  }

  set(name: string, value: unknown): void {
    statement(this.#db, 'INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)').run(
      name,
      toJson(value, `The setting "${name}"`),
    )
  }

  /** The saved value, or a new one from `make`, which is saved. */
  getOrMake(name: string, make: () => string): string {
    const saved = this.get(name)
    if (typeof saved === 'string') return saved
    const made = make()
    this.set(name, made)
    return made
  }
}
