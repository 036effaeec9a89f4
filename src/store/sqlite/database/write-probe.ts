import { Table } from '../../connection.ts'
import { latestSchema } from './migrate.ts'

/** Writes one row, to detect a database that is read-only, full, or migrated by a newer Upshot. */
export class WriteProbe extends Table {
  readonly #write = this.db.prepare<[number]>('UPDATE write_probe SET written_at = ?')
  readonly #schema = this.db.pluck<[], number>('PRAGMA user_version')

  async run(now: number): Promise<{ isMigrated: boolean }> {
    await this.#write.run(now)
    return { isMigrated: (await this.#schema.get()) === latestSchema() }
  }
}
