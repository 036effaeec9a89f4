import { firstId } from '../../../core/ids.ts'
import type { Verdict } from '../../../core/incoming/delivery.ts'
import type { RunStatus } from '../../../core/runs/run.ts'
import type { CountedHour, DeliveryHour, DueHour, HourCount, RunHour } from '../../../core/store/run-hour.ts'
import type { RunCounts } from '../../../core/store/runs.ts'
import { Table } from '../../connection.ts'
import { buildWhere, given } from '../../rows/build-where.ts'
import { SELECT_COUNTS } from '../runs/open-runs.ts'

/**
 * Where counting an hour goes on, and what a slice found. Durations are kept for the percentiles.
 */
interface HourSlice {
  runs: { id: string; workflow: string; status: RunStatus; ms: number | null }[]
  next: string | null
}

const HOUR_MS = 3_600_000
const SLICE = 5_000

/** Hours that are over, counted once, and live counts of partial indexes. */
export class HourTable extends Table {
  /** Index: primary keys; run and delivery are read at their first row. */
  readonly #due = {
    marked: this.db.prepare<[number], Omit<DueHour, 'counted'>>(
      'SELECT hour, version FROM run_hour_mark WHERE hour < ? ORDER BY hour LIMIT 1',
    ),
    mark: this.db.pluck<[number], number>('SELECT version FROM run_hour_mark WHERE hour = ?'),
    counted: this.db.pluck<[], number | null>('SELECT hour FROM hour_counted'),
    oldestRun: this.db.pluck<[], number>('SELECT created_at FROM run ORDER BY id LIMIT 1'),
    oldestDelivery: this.db.pluck<[], number>('SELECT received_at FROM delivery ORDER BY id LIMIT 1'),
  }
  /** Index: primary keys, from the first row of the hour to its last one. */
  readonly #rows = {
    runs: this.db.prepare<[string, string, number], HourSlice['runs'][number]>(
      `SELECT id, workflow, status, finished_at - started_at AS ms FROM full_run WHERE id > ? AND id < ?
       ORDER BY id LIMIT ?`,
    ),
    counts: this.db.prepare<[string, string, number], HourCount['runs'][number] & { last: string }>(
      `SELECT workflow, status, count(*) AS runs, max(id) AS last
       FROM (SELECT id, workflow, status FROM full_run WHERE id > ? AND id < ? ORDER BY id LIMIT ?) AS slice
       GROUP BY workflow, status`,
    ),
    deliveries: this.db.prepare<[string, string], { endpointId: string | null; verdict: Verdict; deliveries: number }>(
      `SELECT endpoint_id, verdict, count(*) AS deliveries FROM delivery WHERE id > ? AND id < ?
       GROUP BY endpoint_id, verdict`,
    ),
  }
  /** Index: primary keys. */
  readonly #saves = {
    dropRuns: this.db.prepare('DELETE FROM run_hour WHERE hour = ?'),
    run: this.db.prepare(
      `INSERT INTO run_hour (hour, workflow, status, runs, p50_ms, p95_ms)
       VALUES (@hour, @workflow, @status, @runs, @p50Ms, @p95Ms)`,
    ),
    delivery: this.db.prepare(
      `INSERT INTO delivery_hour (hour, endpoint_id, verdict, deliveries)
       VALUES (@hour, coalesce(@endpointId, ''), @verdict, @deliveries)
       ON CONFLICT (hour, endpoint_id, verdict) DO UPDATE SET deliveries = excluded.deliveries`,
    ),
    unmark: this.db.prepare('DELETE FROM run_hour_mark WHERE hour = ? AND version = ?'),
    counted: this.db.prepare(
      `INSERT INTO hour_counted (one, hour) VALUES (1, ?)
       ON CONFLICT (one) DO UPDATE SET hour = excluded.hour WHERE hour_counted.hour = CAST(? AS bigint)`,
    ),
  }
  // Index: primary key, from the hour on.
  readonly #listDeliveries = this.db.prepare<[number], DeliveryHour>(
    `SELECT hour, nullif(endpoint_id, '') AS endpoint_id, verdict, deliveries FROM delivery_hour
     WHERE hour >= ? ORDER BY hour`,
  )
  readonly #counts = this.readOne<[firstFailed: string], RunCounts>(SELECT_COUNTS)

  /**
   * The oldest hour before `now` that is not counted, or counted and marked; null: none. Marked
   * hours first: they are few. The last hour is due again where the clock was ahead.
   */
  async findDueHour(now: number): Promise<DueHour | null> {
    const present = Math.floor(now / HOUR_MS)
    const counted = (await this.#due.counted.get()) ?? null
    const last = counted ?? (await this.#oldestHour(present))
    const marked = await this.#due.marked.get(Math.min(last + 1, present))
    if (marked) return { ...marked, counted }
    const next = last < present ? last + 1 : present - 1
    return next < present ? { hour: next, version: 0, counted } : null
  }

  /** The hour before that of the oldest row; without rows the hour before the present one. */
  async #oldestHour(present: number): Promise<number> {
    const found = [await this.#due.oldestRun.get(), await this.#due.oldestDelivery.get()]
    const moments = found.filter((at) => at != null)
    return moments.length === 0 ? present - 1 : Math.floor(Math.min(...moments) / HOUR_MS) - 1
  }

  /** Up to 5,000 runs that were made in an hour, behind `after`. */
  async readHourRuns(hour: number, after: string | null): Promise<HourSlice> {
    const [from, to] = [firstId('run', hour * HOUR_MS), firstId('run', (hour + 1) * HOUR_MS)]
    const runs = await this.#rows.runs.all(after ?? from, to, SLICE)
    return { runs, next: runs.length === SLICE ? (runs.at(-1)?.id ?? null) : null }
  }

  /** Counts runs that were made in an hour: `rows` of them at most, behind `after`. */
  async countHourRuns(hour: number, { rows, after }: { rows: number; after: string | null }): Promise<HourCount> {
    const [from, to] = [firstId('run', hour * HOUR_MS), firstId('run', (hour + 1) * HOUR_MS)]
    const found = await this.#rows.counts.all(after ?? from, to, rows)
    const last = found.reduce((newest, { last }) => (last > newest ? last : newest), '')
    const isFull = found.reduce((sum, { runs }) => sum + runs, 0) === rows
    return { runs: found.map(({ last: _, ...row }) => row), next: isFull ? last : null }
  }

  /** Deliveries of an hour; reads all rows of it. */
  async readHourDeliveries(hour: number): Promise<DeliveryHour[]> {
    const [from, to] = [firstId('dlv', hour * HOUR_MS), firstId('dlv', (hour + 1) * HOUR_MS)]
    return (await this.#rows.deliveries.all(from, to)).map((row) => ({ hour, ...row }))
  }

  /**
   * Saves the counts of an hour. A mark that rose meanwhile stays, so it is counted again. Nothing
   * is saved where another process was first, whose counts may be newer.
   */
  async saveHour(due: DueHour, { runs, deliveries }: CountedHour): Promise<void> {
    const { hour } = due
    await this.db.lock(['hours'])
    if (!(await this.#settle(due))) return
    await this.#saves.dropRuns.run(hour)
    for (const row of runs) await this.#saves.run.run(row)
    for (const row of deliveries) await this.#saves.delivery.run(row)
  }

  /** A marked hour is counted out of turn: those before it may be due. */
  async #settle({ hour, version, counted }: DueHour): Promise<boolean> {
    if (version === 0) return (await this.#saves.counted.run(hour, counted)).changes === 1
    const { changes } = await this.#saves.unmark.run(hour, version)
    return changes === 1 || (await this.#due.mark.get(hour)) !== undefined
  }

  /** Counted hours from `since` on, oldest first. Index: primary key. */
  async listRunHours({ since, workflow }: { since: number; workflow?: string }): Promise<RunHour[]> {
    const { where, values } = buildWhere(given({ 'hour >= ?': Math.floor(since / HOUR_MS), 'workflow = ?': workflow }))
    const list = this.db.prepare<unknown[], RunHour>(
      `SELECT hour, workflow, status, runs, p50_ms, p95_ms FROM run_hour ${where} ORDER BY hour`,
    )
    return list.all(...values)
  }

  async listDeliveryHours(since: number): Promise<DeliveryHour[]> {
    return await this.#listDeliveries.all(Math.floor(since / HOUR_MS))
  }

  /** `since`: bounds the failed runs, in epoch milliseconds. */
  countRuns(since: number): Promise<RunCounts> {
    return this.#counts(firstId('run', since))
  }
}
