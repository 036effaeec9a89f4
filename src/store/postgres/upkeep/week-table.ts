import { firstId, readIdTime } from '../../../core/ids.ts'
import type { WeekKind } from '../../../core/store/retention.ts'
import { Table } from '../../connection.ts'
import { findHolder } from '../../rows/run-sql.ts'
import type { Week } from '../../tables/upkeep/pruning.ts'
import type { Connection } from '../database/connection.ts'

/** Ages of runs, as moments; null: such runs are kept for ever. */
export interface RunBounds {
  runs: number | null
  failures: number | null
}

/** A part of a week's runs: those that may go, and those that stay. */
export interface ScannedRuns {
  runs: number
  failures: number
  kept: string[]
  /** Where the next part begins; null: this was the last one. */
  next: string | null
}

interface Scan extends RunBounds {
  from: string
  after: string
  to: string
  upTo: string
}

/** The first table of each kind: see 004-weeks.postgres.sql. */
const TABLES = { runs: 'run', deliveries: 'delivery', payloads: 'event_body' } as const satisfies Record<
  WeekKind,
  string
>

const FINISHED = ['completed', 'skipped', 'planned']
const FAILED = ['failed', 'canceled']

const list = (statuses: readonly string[]) => statuses.map((status) => `'${status}'`).join(', ')

/** SQL that is true for a run whose age is over. */
const isOld = (status: string, finishedAt: string) =>
  `coalesce(${status} IN (${list(FINISHED)}) AND ${finishedAt} < @runs
    OR ${status} IN (${list(FAILED)}) AND ${finishedAt} < @failures, false)`

const HOLDS = `NOT (run.id > @from AND run.id < @to AND ${isOld('run.end_status', 'run.finished_at')})`

/** Partitions of the tables that retention empties, a week each. */
export class WeekTable extends Table<Connection> {
  readonly #list = this.db.prepare<[string], { lower: string | null; upper: string | null }>(
    'SELECT lower, upper FROM list_weeks_1(?)',
  )
  readonly #measure = this.db.pluck<
    [string, string[]],
    number
  >(`SELECT coalesce(sum(pg_total_relation_size(to_regclass(quote_ident(week.name)))), 0)::bigint
       FROM unnest(week_tables_1(?)) AS tab, list_weeks_1(tab) AS week WHERE week.upper = ANY (?::text[])`)
  readonly #cut = this.db.pluck<[string, string, string], boolean>('SELECT cut_week_1(?, ?, ?)')
  // Index: primary key of outcome, and nothing but that.
  readonly #part = this.db.prepare<[string, string, number], { rows: number; last: string | null }>(
    `SELECT count(*) AS rows, max(run_id) AS last FROM (
       SELECT run_id FROM outcome WHERE run_id > ? AND run_id < ? ORDER BY run_id LIMIT ?) AS part`,
  )
  // Index: outcome_ended_badly.
  readonly #failed = this.db.pluck<[string, string], number>(
    `SELECT count(*) FROM outcome WHERE status IN (${list(FAILED)}) AND run_id > ? AND run_id <= ?`,
  )
  // Index: primary key of outcome. A folded run stays as long as those that have its event.
  readonly #staying = this.db.prepare<[Scan], { id: string; hasFailed: boolean }>(
    `SELECT run_id AS id, status IN (${list(FAILED)}) AS has_failed FROM outcome
     WHERE run_id > @after AND run_id <= @upTo AND (NOT ${isOld('status', 'finished_at')}
       OR folded_into IS NOT NULL AND ${findHolder('outcome.folded_into', HOLDS)} IS NOT NULL)`,
  )
  readonly #dropRuns = this.db.pluck<[string, string[], number], number | null>('SELECT drop_runs_1(?, ?, ?)')
  readonly #dropDeliveries = this.db.prepare<[string], { deliveries: number; refusals: number }>(
    'SELECT deliveries, refusals FROM drop_deliveries_1(?)',
  )
  readonly #dropBodies = this.db.prepare<[string, number], { bodies: number; kept: number }>(
    'SELECT bodies, kept FROM drop_bodies_1(?, ?)',
  )
  readonly #keep = this.db.pluck<[string, string, number], boolean>('SELECT keep_week_1(?, ?, ?)')

  /** Oldest first. The last one is open. */
  async list(kind: WeekKind): Promise<Week[]> {
    const weeks = (await this.#list.all(TABLES[kind])).map(({ lower, upper }) => ({
      from: lower === null ? null : readBound(kind, lower),
      to: upper === null ? null : readBound(kind, upper),
    }))
    return weeks.sort((a, b) => (a.from ?? -1) - (b.from ?? -1))
  }

  /** Rows before it are removed one by one; all of them, while there are no weeks. */
  async edge(kind: WeekKind): Promise<number> {
    const [oldest] = await this.list(kind)
    return oldest?.to ?? Number.MAX_SAFE_INTEGER
  }

  /** Size of these weeks on disk, with all tables and indexes of the kind. */
  async measure(kind: WeekKind, weeks: readonly Week[]): Promise<number> {
    const uppers = weeks.flatMap(({ to }) => (to === null ? [] : [writeBound(kind, to)]))
    return (await this.#measure.get(kind, uppers)) ?? 0
  }

  /** Begins a week that is open. False where rows are behind its beginning already. */
  async cut(kind: WeekKind, at: number): Promise<boolean> {
    const name = new Date(at).toISOString().slice(0, 10).replaceAll('-', '')
    return (await this.#cut.get(kind, writeBound(kind, at), name)) ?? false
  }

  /** Reads so many ends of a week's runs after a position, oldest first. */
  async scanRuns(
    week: { from: number; to: number },
    { after, limit, ...bounds }: RunBounds & { after: string | null; limit: number },
  ): Promise<ScannedRuns> {
    const [from, to] = [writeBound('runs', week.from), writeBound('runs', week.to)]
    const begin = after ?? from
    const { rows, last } = (await this.#part.get(begin, to, limit)) ?? { rows: 0, last: null }
    const upTo = last ?? begin
    const failed = (await this.#failed.get(begin, upTo)) ?? 0
    const staying = await this.#staying.all({ ...bounds, from, to, after: begin, upTo })
    const failedStaying = staying.filter(({ hasFailed }) => hasFailed).length
    return {
      runs: rows - failed - (staying.length - failedStaying),
      failures: failed - failedStaying,
      kept: staying.map(({ id }) => id),
      next: rows < limit ? null : last,
    }
  }

  /** Drops a week, but for these runs and those that began again or ended since a moment. */
  async dropRuns(to: number, kept: string[], since: number): Promise<number | null> {
    return (await this.#dropRuns.get(writeBound('runs', to), kept, since)) ?? null
  }

  async dropDeliveries(to: number) {
    return (await this.#dropDeliveries.get(writeBound('deliveries', to))) ?? null
  }

  /** Null where more runs are unfinished than `mostUnfinished`. */
  async dropBodies(to: number, mostUnfinished: number) {
    return (await this.#dropBodies.get(writeBound('payloads', to), mostUnfinished)) ?? null
  }

  /** Leaves a week to be emptied row by row. False where `most` other rows are in its way. */
  async keep(kind: WeekKind, to: number, most: number): Promise<boolean> {
    return (await this.#keep.get(kind, writeBound(kind, to), most)) ?? false
  }
}

function writeBound(kind: WeekKind, at: number): string {
  if (kind === 'payloads') return String(at)
  return firstId(kind === 'runs' ? 'run' : 'dlv', at)
}

function readBound(kind: WeekKind, bound: string): number {
  return kind === 'payloads' ? Number(bound) : readIdTime(bound)
}
