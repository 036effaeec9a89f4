import { readIdTime } from '../../../core/ids.ts'
import { WEEK_KINDS, type WeekKind } from '../../../core/store/retention.ts'
import type { ServerRoom, ServerState, WeekRoom } from '../../../core/store/server.ts'
import { JoinedTable, Table } from '../../connection.ts'
import type { Week } from '../../tables/upkeep/pruning.ts'
import type { Connection } from '../database/connection.ts'
import type { WeekTable } from '../upkeep/week-table.ts'

/** Tables that are told; the others are small. */
const MAX_TABLES = 12

/** Sizes of the tables, by the catalogue alone, and the weeks of those that have some. */
export class ServerRoomView extends JoinedTable<{ weeks: Pick<WeekTable, 'list' | 'measure'> }, Connection> {
  readonly #size = this.db.pluck<[], number>('SELECT pg_database_size(current_database())')
  readonly #tables = this.db.prepare<[number], ServerRoom['tables'][number]>(
    `SELECT coalesce(whole.relname, part.relname)::text AS "table",
       coalesce(sum(pg_total_relation_size(part.oid)), 0)::bigint AS bytes
     FROM pg_class AS part LEFT JOIN pg_inherits ON inhrelid = part.oid
       LEFT JOIN pg_class AS whole ON whole.oid = inhparent
     WHERE part.relnamespace = current_schema()::regnamespace AND part.relkind = 'r'
     GROUP BY 1 ORDER BY bytes DESC, 1 LIMIT ?`,
  )

  async read(now: number): Promise<ServerRoom> {
    const weeks = []
    for (const kind of WEEK_KINDS) weeks.push(await this.#readWeeks(kind, now))
    return { databaseBytes: (await this.#size.get()) ?? 0, tables: await this.#tables.all(MAX_TABLES), weeks }
  }

  async #readWeeks(kind: WeekKind, now: number): Promise<WeekRoom> {
    const weeks = await this.parts.weeks.list(kind)
    const kept = weeks.filter(({ from }) => from !== null && from <= now)
    const oldest = kept.find(hasEnd)
    const bytes = oldest === undefined ? 0 : await this.parts.weeks.measure(kind, [oldest])
    return {
      kind,
      kept: kept.length,
      oldest: oldest === undefined || oldest.to > now ? null : { from: oldest.from, to: oldest.to, bytes },
      until: weeks.at(-1)?.from ?? null,
    }
  }
}

function hasEnd(week: Week): week is { from: number; to: number } {
  return week.from !== null && week.to !== null
}

interface Row extends Omit<ServerState, 'weeksUntil'> {
  open: string | null
}

/** The server, as far as a user without rights over it may look. */
export class ServerStateView extends Table<Connection> {
  readonly #read = this.readOne<[], Row>(
    `SELECT pg_database_size(current_database()) AS database_bytes,
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
       current_setting('max_connections')::int AS most_connections,
       coalesce((SELECT extract(epoch FROM max(clock_timestamp() - xact_start)) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()), 0) AS oldest_transaction_s,
       coalesce((SELECT n_dead_tup FROM pg_stat_user_tables
         WHERE schemaname = current_schema() AND relname = 'work'), 0) AS dead_rows,
       (SELECT count(*) FROM pg_stat_replication) AS standbys,
       current_setting('synchronous_standby_names') <> '' AS is_replicated,
       (SELECT max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)) FROM pg_stat_replication) AS lag_bytes,
       (SELECT lower FROM list_weeks_1('run') WHERE upper IS NULL) AS open`,
  )

  async read(): Promise<ServerState> {
    const { open, ...facts } = await this.#read()
    return { ...facts, weeksUntil: open === null ? null : readIdTime(open) }
  }
}
