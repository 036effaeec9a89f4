import type { Connection } from './connection.ts'
import { latestSchema } from './migrate.ts'

/** Writes one row, to detect a database that is read-only, full, or migrated by a newer Upshot. */
export class WriteProbe {
  readonly #write
  readonly #schema

  constructor(db: Connection) {
    this.#write = db.prepare<[number]>('UPDATE write_probe SET written_at = ?')
    this.#schema = db.prepare<[], number>('SELECT version FROM schema_version').pluck()
  }

  /** `isMigrated` is false when a newer Upshot changed the schema. */
  async run(now: number): Promise<{ isMigrated: boolean }> {
    await this.#write.run(now)
    return { isMigrated: (await this.#schema.get()) === latestSchema() }
  }
}
