import type { Database } from 'better-sqlite3'
import type { KeptLimit } from '../../../core/store/limits.ts'

/** The limiter's state that processes with the same API key share, one row per key. */
export class KeyLimitTable {
  readonly #load
  readonly #insert
  readonly #update

  constructor(db: Database) {
    // Index: primary key.
    this.#load = db.prepare<[string], KeptLimit>('SELECT state, version FROM key_limit WHERE key = ?')
    this.#insert = db.prepare(
      'INSERT INTO key_limit (key, state, version) VALUES (?, ?, 1) ON CONFLICT (key) DO NOTHING',
    )
    this.#update = db.prepare('UPDATE key_limit SET state = ?, version = version + 1 WHERE key = ? AND version = ?')
  }

  load(key: string): KeptLimit | null {
    return this.#load.get(key) ?? null
  }

  /** A compare-and-set: false when the row no longer has this version; 0 means no row yet. */
  save(key: string, state: string, version: number): boolean {
    const written = version === 0 ? this.#insert.run(key, state) : this.#update.run(state, key, version)
    return written.changes === 1
  }
}
