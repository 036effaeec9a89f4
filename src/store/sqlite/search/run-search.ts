import { firstId } from '../../../core/ids.ts'
import { type FailureGroup, groupOne, mergeFailureGroups } from '../../../core/runs/failures/failure-group.ts'
import type { Run, RunFilter } from '../../../core/runs/run.ts'
import type { EndedFailure, EndMark, FailureFilter } from '../../../core/store/runs.ts'
import type { SearchPart, SearchSlice } from '../../../core/store/search.ts'
import { afterAll, boundIds, buildWhere, type Condition, type IdSpan, narrowSpan } from '../../rows/build-where.ts'
import { type RunRow, readRun } from '../../rows/runs/run-row.ts'
import type { SqliteConnection } from '../database/connection.ts'
import type { EventTable } from '../incoming/event-table.ts'
import { selectRuns } from '../runs/select-runs.ts'
import { ALL_RUNS, addFailureFunctions, planRunPath, type RunPath } from './run-filter.ts'
import { WorkflowZones } from './workflow-zones.ts'

/** The rows of one slice. */
interface Span {
  /** The path, bounded by the slice. */
  path: RunPath
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
  readonly #db: SqliteConnection
  readonly #events: EventTable
  readonly #zones: WorkflowZones
  readonly #created
  readonly #ids

  constructor(db: SqliteConnection, events: EventTable) {
    addFailureFunctions(db.raw)
    this.#db = db
    this.#events = events
    this.#zones = new WorkflowZones(db.raw)
    // Index: primary key, for both.
    this.#ids = db
      .prepare<[string, string, number], string>('SELECT id FROM run WHERE id >= ? AND id < ? ORDER BY id LIMIT ?')
      .pluck()
    this.#created = db.prepare<[string], number>('SELECT created_at FROM run WHERE id = ?').pluck()
  }

  async list({ limit, ...filter }: RunFilter & { limit: number }): Promise<Run[]> {
    return this.#read(await planRunPath(filter, this.#events), limit)
  }

  async ids(beginning: string, limit: number): Promise<string[]> {
    return this.#ids.all(beginning, afterAll(beginning), limit)
  }

  async search(filter: RunFilter, slice: SearchSlice): Promise<SearchPart<Run>> {
    const path = await planRunPath(filter, this.#events)
    if (path.index === ALL_RUNS && filter.workflow !== undefined) return this.#searchZone(filter, path, slice)
    return this.#searchPath(path, slice)
  }

  /** Reads no further than one stretch of hours in which the workflow has runs. */
  async #searchZone(
    { workflow = '', since = 0 }: RunFilter,
    path: RunPath,
    slice: SearchSlice,
  ): Promise<SearchPart<Run>> {
    const zone = this.#zones.find(workflow, slice.after)
    const part = await this.#searchPath(narrowPath(path, { from: zone.from }), slice)
    if (part.next !== null || zone.next === null || zone.next <= firstId('run', since)) return part
    return { ...part, next: zone.next }
  }

  async #searchPath(path: RunPath, slice: SearchSlice): Promise<SearchPart<Run>> {
    const span = await this.#findSpan(path, slice)
    const items = await this.#read(span.path, slice.limit)
    const last = items.at(-1)
    if (items.length < slice.limit || last === undefined || last.id === span.last?.id) return endOf(span, items)
    // The page is full before the slice is read to its end.
    const rows = await this.#countDownTo(span.path, last.id)
    return { items, next: last.id, rows, from: last.createdAt }
  }

  async groupFailures(filter: FailureFilter, slice: SearchSlice): Promise<SearchPart<FailureGroup>> {
    const path = await planRunPath({ ...filter, status: 'failed' }, this.#events)
    const span = await this.#findSpan(path, slice)
    const { where, values } = buildWhere([...readAlong(span.path), ...path.each])
    const rows = this.#db.prepare<unknown[], FailureRow>(
      `SELECT run.id, workflow, error, finished_at, resolution FROM run ${path.index} ${where}`,
    )
    return endOf(span, mergeFailureGroups((await rows.all(...values)).map(toGroup)))
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
      `SELECT id, workflow, error, finished_at FROM run INDEXED BY run_failed_end
       WHERE status = 'failed' AND resolution IS NULL AND (finished_at, id) > (?, ?) AND finished_at < ?
       ORDER BY finished_at, id LIMIT ?`,
    )
    return (await rows.all(after.at, after.run, until, limit)).map(
      ({ id, workflow, error, finished_at: finishedAt }) => {
        return { run: id, workflow, finishedAt, error: JSON.parse(error) }
      },
    )
  }

  async #read(path: RunPath, limit: number): Promise<Run[]> {
    const { where, values } = buildWhere([...readAlong(path), ...path.each])
    const rows = this.#db.prepare<unknown[], RunRow>(`${selectRuns(path.index)} ${where} ORDER BY run.id DESC LIMIT ?`)
    return (await rows.all(...values, limit)).map(readRun)
  }

  async #findSpan(whole: RunPath, { rows, after }: SearchSlice): Promise<Span> {
    const path = narrowPath(whole, { below: after ?? undefined })
    const { where, values } = buildWhere(readAlong(path))
    const edge = this.#db.prepare<unknown[], string>(
      `SELECT id FROM run ${path.index} ${where} ORDER BY run.id DESC LIMIT 1 OFFSET ?`,
    )
    const id = await edge.pluck().get(...values, rows - 1)
    if (id !== undefined) {
      return { path: narrowPath(path, { from: id }), last: await this.#at(id), rows, isLast: false }
    }
    const rest = this.#db.prepare<unknown[], { id: string | null; count: number }>(
      `SELECT min(run.id) AS id, count(*) AS count FROM run ${path.index} ${where}`,
    )
    const { id: oldest = null, count = 0 } = (await rest.get(...values)) ?? {}
    return { path, last: oldest === null ? null : await this.#at(oldest), rows: count, isLast: true }
  }

  async #at(id: string): Promise<{ id: string; createdAt: number }> {
    return { id, createdAt: (await this.#created.get(id)) ?? 0 }
  }

  async #countDownTo(path: RunPath, id: string): Promise<number> {
    const { where, values } = buildWhere(readAlong(narrowPath(path, { from: id })))
    const count = this.#db.prepare<unknown[], number>(`SELECT count(*) FROM run ${path.index} ${where}`)
    return (await count.pluck().get(...values)) ?? 0
  }
}

function narrowPath(path: RunPath, span: IdSpan): RunPath {
  return { ...path, span: narrowSpan(path.span, span) }
}

function readAlong({ along, span }: RunPath): Condition[] {
  return [...along, ...boundIds('run.id', span)]
}

function endOf<Item>({ last, rows, isLast }: Span, items: Item[]): SearchPart<Item> {
  return { items, next: isLast ? null : (last?.id ?? null), rows, from: last?.createdAt ?? null }
}

function toGroup({ id, workflow, error, finished_at: at, resolution }: FailureRow): FailureGroup {
  return groupOne({ run: id, workflow, error: JSON.parse(error), at, isResolved: resolution !== null })
}
