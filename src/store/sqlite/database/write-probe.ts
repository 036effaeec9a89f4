import type { Database } from 'better-sqlite3'
import { latestSchema } from './migrate.ts'

/** Writes its one row, so that a store that has become read-only, full or foreign is found out. */
export class WriteProbe {
  readonly #write
  readonly #schema

  constructor(db: Database) {
    this.#write = db.prepare('UPDATE write_probe SET written_at = ?')
    this.#schema = db.prepare<[], number>('PRAGMA user_version').pluck()
  }

  /** False for `isMigrated` when a newer Upshot has changed the schema meanwhile. */
  run(now: number): { isMigrated: boolean } {
    this.#write.run(now)
    return { isMigrated: this.#schema.get() === latestSchema() }
  }
}
