import { Table } from '../../connection.ts'

/** The shared state of an API key's request limit. See decision 22. */
interface KeptLimit {
  /** JSON text of the Files client. */
  state: string
  /** Rises with each change. */
  version: number
}

/** The limiter's state that processes with the same API key share, one row per key. */
export class KeyLimitTable extends Table {
  // Index: primary key.
  readonly #load = this.db.prepare<[string], KeptLimit>('SELECT state, version FROM key_limit WHERE key = ?')
  readonly #insert = this.db.prepare(
    'INSERT INTO key_limit (key, state, version) VALUES (?, ?, 1) ON CONFLICT (key) DO NOTHING',
  )
  readonly #update = this.db.prepare(
    'UPDATE key_limit SET state = ?, version = version + 1 WHERE key = ? AND version = ?',
  )

  /**
   * The state shared by all processes that use an API key; `key` is its hash. Null when there is
   * none yet.
   */
  async loadLimit(key: string): Promise<KeptLimit | null> {
    return (await this.#load.get(key)) ?? null
  }

  /**
   * Compare-and-set: replaces the state of `version`; false when another process was first. A key
   * without state has version 0.
   */
  async saveLimit(key: string, state: string, version: number): Promise<boolean> {
    const written = version === 0 ? await this.#insert.run(key, state) : await this.#update.run(state, key, version)
    return written.changes === 1
  }
}
