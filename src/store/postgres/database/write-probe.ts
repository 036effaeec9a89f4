import type { Writable } from '../../../core/store/store.ts'
import { Table } from '../../connection.ts'
import type { Connection } from './connection.ts'
import { isUsable, type Schema } from './migrate.ts'

/** Writes one row, to detect a database that is read-only, full, or migrated by a newer Upshot. */
export class WriteProbe extends Table<Connection> {
  readonly #write = this.db.prepare<[number]>('UPDATE write_probe SET written_at = ?')
  // Names of standbys to wait for are seen by every user; those that are connected, too.
  readonly #state = this.db.prepare<[], Schema & { isReplicated: boolean | null }>(
    `SELECT version, least, CASE WHEN current_setting('synchronous_standby_names') <> '' THEN true
       WHEN EXISTS (SELECT 1 FROM pg_stat_replication) THEN false END AS is_replicated FROM schema_version`,
  )

  async run(now: number): Promise<Writable> {
    await this.#write.run(now)
    const { isReplicated, ...schema } = (await this.#state.get()) ?? { version: 0, least: 0, isReplicated: null }
    return { isMigrated: isUsable(schema), isReplicated }
  }
}
