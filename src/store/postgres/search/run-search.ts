import { type FailureGroup, groupOne, mergeFailureGroups } from '../../../core/runs/failures/failure-group.ts'
import type { Run, RunFilter } from '../../../core/runs/run.ts'
import type { EndedFailure, EndMark, FailureFilter } from '../../../core/store/runs.ts'
import type { SearchPart, SearchSlice } from '../../../core/store/search.ts'
import { afterAll, buildWhere, type Condition } from '../../rows/build-where.ts'
import { type RunRow, readRun } from '../../rows/runs/run-row.ts'
import type { Connection } from '../database/connection.ts'
import type { EventTable } from '../incoming/event-table.ts'
import { SELECT_RUNS } from '../runs/select-runs.ts'
import { planRunPath, type RunPath } from './plan-run-path.ts'

/** The rows of one slice. */
interface Span {
  /** The slice, as a further condition of its path. */
  within: Condition[]
  /** Id of the last row read, with the moment of its making; null where the slice is empty. */
  last: { id: string; createdAt: number } | null
  rows: number
  isLast: boolean
}

interface FailureRow {
  id: string
  workflow: string
  error: string
  finished_at: number
  resolution: string | null
}

/** Lists of runs for a person. Each read visits one index, newest first, and at most one slice. */
export class RunSearch {
  readonly #db: Connection
  readonly #events: EventTable
  readonly #created
  readonly #ids

  constructor(db: Connection, events: EventTable) {
    this.#db = db
    this.#events = events
    // Index: primary key, for both.
    this.#ids = db
      .prepare<[string, string, number], string>('SELECT id FROM run WHERE id >= ? AND id < ? ORDER BY id LIMIT ?')
      .pluck()
    this.#created = db.prepare<[string], number>('SELECT created_at FROM run WHERE id = ?').pluck()
  }

  async list({ limit, ...filter }: RunFilter & { limit: number }): Promise<Run[]> {
    return this.#read(await planRunPath(filter, this.#events), [], limit)
  }

  ids(beginning: string, limit: number): Promise<string[]> {
    return this.#ids.all(beginning, afterAll(beginning), limit)
  }

  async search(filter: RunFilter, slice: SearchSlice): Promise<SearchPart<Run>> {
    const path = await planRunPath(filter, this.#events)
    const span = await this.#findSpan(path, slice)
    const items = await this.#read(path, span.within, slice.limit)
    const last = items.at(-1)
    if (items.length < slice.limit || last === undefined || last.id === span.last?.id) return endOf(span, items)
    // The page is full before the slice is read to its end.
    const rows = await this.#countDownTo(path, slice, last.id)
    return { items, next: last.id, rows, from: last.createdAt }
  }

  async groupFailures(filter: FailureFilter, slice: SearchSlice): Promise<SearchPart<FailureGroup>> {
    const path = await planRunPath({ ...filter, status: 'failed' }, this.#events)
    const span = await this.#findSpan(path, slice)
    const { where, values } = buildWhere([...path.along, ...span.within, ...path.each])
    const rows = this.#db.prepare<unknown[], FailureRow>(
      `SELECT run.id, run.workflow, run.error, run.finished_at, run.resolution FROM full_run AS run ${where}`,
    )
    const kept = (await rows.all(...values)).filter((row) => path.keeps?.(row) ?? true)
    return endOf(span, mergeFailureGroups(kept.map(toGroup)))
  }

  async endedFailures({
    after,
    until,
    limit,
  }: {
    after: EndMark
    until: number
    limit: number
  }): Promise<EndedFailure[]> {
    const rows = this.#db.prepare<unknown[], Omit<FailureRow, 'resolution'>>(
      `SELECT run_id AS id, workflow, error, finished_at FROM outcome
       WHERE status = 'failed' AND resolution IS NULL AND (finished_at, run_id) > (?::bigint, ?) AND finished_at < ?
       ORDER BY finished_at, run_id LIMIT ?`,
    )
    return (await rows.all(after.at, after.run, until, limit)).map(
      ({ id, workflow, error, finished_at: finishedAt }) => {
        return { run: id, workflow, finishedAt, error: JSON.parse(error) }
      },
    )
  }

  async #read(path: RunPath, within: Condition[], limit: number): Promise<Run[]> {
    const { along, each, keeps } = path
    if (keeps !== null) return this.#readKept({ ...path, keeps }, within, limit)
    const { where, values } = buildWhere([...along, ...within, ...each])
    const rows = this.#db.prepare<unknown[], RunRow>(`${SELECT_RUNS} ${where} ORDER BY run.id DESC LIMIT ?`)
    return (await rows.all(...values, limit)).map(readRun)
  }

  /** The same where our code decides: first the ids of the runs, then their rows. */
  async #readKept(
    { along, each, keeps }: RunPath & { keeps: NonNullable<RunPath['keeps']> },
    within: Condition[],
    limit: number,
  ): Promise<Run[]> {
    const { where, values } = buildWhere([...along, ...within, ...each])
    const candidates = this.#db.prepare<unknown[], { id: string; workflow: string; error: string | null }>(
      `SELECT run.id, run.workflow, run.error FROM full_run AS run ${where} ORDER BY run.id DESC`,
    )
    const kept = (await candidates.all(...values)).filter(keeps).slice(0, limit)
    const ids: Condition = ['run.id = ANY (?::text[])', kept.map(({ id }) => id)]
    return this.#read({ source: 'full_run', along: [ids], each: [], keeps: null }, [], limit)
  }

  async #findSpan({ source, along }: RunPath, { rows, after }: SearchSlice): Promise<Span> {
    const below: Condition[] = after === null ? [] : [['run.id < ?', after]]
    const { where, values } = buildWhere([...along, ...below])
    const edge = this.#db.prepare<unknown[], string>(
      `SELECT run.id FROM ${source} AS run ${where} ORDER BY run.id DESC LIMIT 1 OFFSET ?`,
    )
    const id = await edge.pluck().get(...values, rows - 1)
    if (id !== undefined) {
      return { within: [...below, ['run.id >= ?', id]], last: await this.#at(id), rows, isLast: false }
    }
    const rest = this.#db.prepare<unknown[], { id: string | null; count: number }>(
      `SELECT min(run.id) AS id, count(*) AS count FROM ${source} AS run ${where}`,
    )
    const { id: oldest = null, count = 0 } = (await rest.get(...values)) ?? {}
    return { within: below, last: oldest === null ? null : await this.#at(oldest), rows: count, isLast: true }
  }

  async #at(id: string): Promise<{ id: string; createdAt: number }> {
    return { id, createdAt: (await this.#created.get(id)) ?? 0 }
  }

  async #countDownTo({ source, along }: RunPath, { after }: SearchSlice, id: string): Promise<number> {
    const below: Condition[] = after === null ? [] : [['run.id < ?', after]]
    const { where, values } = buildWhere([...along, ...below, ['run.id >= ?', id]])
    const count = this.#db.prepare<unknown[], number>(`SELECT count(*) FROM ${source} AS run ${where}`)
    return (await count.pluck().get(...values)) ?? 0
  }
}

function endOf<Item>({ last, rows, isLast }: Span, items: Item[]): SearchPart<Item> {
  return { items, next: isLast ? null : (last?.id ?? null), rows, from: last?.createdAt ?? null }
}

function toGroup({ id, workflow, error, finished_at: at, resolution }: FailureRow): FailureGroup {
  return groupOne({ run: id, workflow, error: JSON.parse(error), at, isResolved: resolution !== null })
}
