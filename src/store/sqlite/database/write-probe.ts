import type { Database } from 'better-sqlite3'
import type { Writable } from '../../../core/store/store.ts'
import { latestSchema } from './migrate.ts'

/** Writes one row, to detect a database that is read-only, full, or migrated by a newer Upshot. */
export class WriteProbe {
  readonly #write
  readonly #schema

  constructor(db: Database) {
    this.#write = db.prepare('UPDATE write_probe SET written_at = ?')
    this.#schema = db.prepare<[], number>('PRAGMA user_version').pluck()
  }

  /** `isMigrated` is false when a newer Upshot changed the schema. */
  run(now: number): Writable {
    this.#write.run(now)
    return { isMigrated: this.#schema.get() === latestSchema(), isReplicated: null }
  }
}
