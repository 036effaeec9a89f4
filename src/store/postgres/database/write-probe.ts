import { Table } from '../../connection.ts'
import type { Connection } from './connection.ts'
import { isUsable, type Schema } from './migrate.ts'

/** Writes one row, to detect a database that is read-only, full, or migrated by a newer Upshot. */
export class WriteProbe extends Table<Connection> {
  readonly #write = this.db.prepare<[number]>('UPDATE write_probe SET written_at = ?')
  readonly #schema = this.db.prepare<[], Schema>('SELECT version, least FROM schema_version')

  async run(now: number): Promise<{ isMigrated: boolean }> {
    await this.#write.run(now)
    return { isMigrated: isUsable((await this.#schema.get()) ?? { version: 0, least: 0 }) }
  }
}
