import { readIdTime } from '../../../core/ids.ts'
import type { ServerState } from '../../../core/store/health/server.ts'
import type { Connection } from '../database/connection.ts'

interface Row extends Omit<ServerState, 'weeksUntil'> {
  open: string | null
}

/** The server, as far as a user without rights over it may look. */
export class ServerStateView {
  readonly #read

  constructor(db: Connection) {
    this.#read = db.prepare<[], Row>(
      `SELECT pg_database_size(current_database()) AS databaseBytes,
         (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
         current_setting('max_connections')::int AS mostConnections,
         coalesce((SELECT extract(epoch FROM max(clock_timestamp() - xact_start)) FROM pg_stat_activity
           WHERE datname = current_database() AND pid <> pg_backend_pid()), 0) AS oldestTransactionS,
         coalesce((SELECT n_dead_tup FROM pg_stat_user_tables
           WHERE schemaname = current_schema() AND relname = 'work'), 0) AS deadRows,
         (SELECT count(*) FROM pg_stat_replication) AS standbys,
         current_setting('synchronous_standby_names') <> '' AS isReplicated,
         (SELECT max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)) FROM pg_stat_replication) AS lagBytes,
         (SELECT lower FROM list_weeks_1('run') WHERE upper IS NULL) AS open`,
    )
  }

  async read(): Promise<ServerState | null> {
    const row = await this.#read.get()
    if (row === undefined) return null
    const { open, ...facts } = row
    return { ...facts, weeksUntil: open === null ? null : readIdTime(open) }
  }
}
