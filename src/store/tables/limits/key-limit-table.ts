import type { KeptLimit } from '../../../core/store/limits.ts'
import type { Connection } from '../../connection.ts'

/** The limiter's state that processes with the same API key share, one row per key. */
export class KeyLimitTable {
  readonly #load
  readonly #insert
  readonly #update

  constructor(db: Connection) {
    // Index: primary key.
    this.#load = db.prepare<[string], KeptLimit>('SELECT state, version FROM key_limit WHERE key = ?')
    this.#insert = db.prepare(
      'INSERT INTO key_limit (key, state, version) VALUES (?, ?, 1) ON CONFLICT (key) DO NOTHING',
    )
    this.#update = db.prepare('UPDATE key_limit SET state = ?, version = version + 1 WHERE key = ? AND version = ?')
  }

  async load(key: string): Promise<KeptLimit | null> {
    return (await this.#load.get(key)) ?? null
  }

  /** A compare-and-set: false when the row no longer has this version; 0 means no row yet. */
  async save(key: string, state: string, version: number): Promise<boolean> {
    const written = version === 0 ? await this.#insert.run(key, state) : await this.#update.run(state, key, version)
    return written.changes === 1
  }
}
