import type { Database } from 'better-sqlite3'
import type { KeptLimit } from '../../../core/store/limits.ts'

/** What the processes that use one API key have agreed on, a row for each key. */
export class KeyLimitTable {
  readonly #load
  readonly #insert
  readonly #update

  constructor(db: Database) {
    // Index: primary key, in all three.
    this.#load = db.prepare<[string], KeptLimit>('SELECT state, version FROM files_limit WHERE key = ?')
    this.#insert = db.prepare(
      'INSERT INTO files_limit (key, state, version) VALUES (?, ?, 1) ON CONFLICT (key) DO NOTHING',
    )
    this.#update = db.prepare('UPDATE files_limit SET state = ?, version = version + 1 WHERE key = ? AND version = ?')
  }

  load(key: string): KeptLimit | null {
    return this.#load.get(key) ?? null
  }

  /** False when somebody was faster. */
  save(key: string, state: string, version: number): boolean {
    const written = version === 0 ? this.#insert.run(key, state) : this.#update.run(state, key, version)
    return written.changes === 1
  }
}
