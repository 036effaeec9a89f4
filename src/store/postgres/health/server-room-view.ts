import type { ServerRoom, WeekRoom } from '../../../core/store/health/server.ts'
import { WEEK_KINDS, type WeekKind } from '../../../core/store/retention.ts'
import type { Week } from '../../tables/upkeep/prune-counts.ts'
import type { Connection } from '../database/connection.ts'
import type { WeekTable } from '../upkeep/week-table.ts'

/** Tables that are told; the others are small. */
const MAX_TABLES = 12

/** Sizes of the tables, by the catalogue alone, and the weeks of those that have some. */
export class ServerRoomView {
  readonly #weeks: Pick<WeekTable, 'list' | 'measure'>
  readonly #tables
  readonly #size

  constructor(db: Connection, weeks: Pick<WeekTable, 'list' | 'measure'>) {
    this.#weeks = weeks
    this.#size = db.pluck<[], number>('SELECT pg_database_size(current_database())')
    this.#tables = db.prepare<[number], ServerRoom['tables'][number]>(
      `SELECT coalesce(whole.relname, part.relname)::text AS "table",
         coalesce(sum(pg_total_relation_size(part.oid)), 0)::bigint AS bytes
       FROM pg_class AS part LEFT JOIN pg_inherits ON inhrelid = part.oid
         LEFT JOIN pg_class AS whole ON whole.oid = inhparent
       WHERE part.relnamespace = current_schema()::regnamespace AND part.relkind = 'r'
       GROUP BY 1 ORDER BY bytes DESC, 1 LIMIT ?`,
    )
  }

  async read(now: number): Promise<ServerRoom> {
    const weeks = []
    for (const kind of WEEK_KINDS) weeks.push(await this.#readWeeks(kind, now))
    return { databaseBytes: (await this.#size.get()) ?? 0, tables: await this.#tables.all(MAX_TABLES), weeks }
  }

  async #readWeeks(kind: WeekKind, now: number): Promise<WeekRoom> {
    const weeks = await this.#weeks.list(kind)
    const kept = weeks.filter(({ from }) => from !== null && from <= now)
    const oldest = kept.find(hasEnd)
    const bytes = oldest === undefined ? 0 : await this.#weeks.measure(kind, [oldest])
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
