import type { Failure } from '../../../core/errors.ts'
import { firstId, readIdTime } from '../../../core/ids.ts'
import type { Tags } from '../../../core/runs/annotations/tags.ts'
import { type FailureGroup, groupOne, mergeFailureGroups } from '../../../core/runs/failure-group.ts'
import type { Run, RunFilter } from '../../../core/runs/run.ts'
import type { FailureFilter } from '../../../core/store/runs.ts'
import type { SearchPart, SearchSlice } from '../../../core/store/search.ts'
import { JoinedTable, Table } from '../../connection.ts'
import { boundIds, buildWhere, type Condition, type IdSpan, narrowSpan } from '../../rows/build-where.ts'
import type { Events } from '../incoming/events.ts'
import { prepareIds } from '../prepare-ids.ts'
import type { AnnotationTable } from '../runs/annotation-table.ts'
import { type RunRow, readRun, selectRuns } from '../runs/select-runs.ts'
import { planRunPath, type RunPath } from './plan-run-path.ts'

/** A place in the order of ends: a moment in epoch milliseconds, and a run. */
interface EndMark {
  at: number
  run: string
}

interface EndedFailure {
  run: string
  workflow: string
  /** Epoch milliseconds. */
  finishedAt: number
  error: Failure
  tags: Tags
}

type EndedRow = Omit<EndedFailure, 'error' | 'tags'> & { error: string; tags: string | null }

/** Rows that one look of a list reads at most; the first reads as many as are asked for. */
const MAX_ROWS = 2_000

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
  finishedAt: number
  resolution: string | null
}

/** Lists of runs for a person. Each read visits one index, newest first, and at most one slice. */
export class RunSearch extends JoinedTable<{ events: Events; annotations: AnnotationTable }> {
  /** Ids that begin so, oldest first. */
  readonly listRunIds = prepareIds(this.db, 'run')
  readonly #zones = new WorkflowZones(this.db)
  readonly #ended = this.db.prepare<[number, string, number, number], EndedRow>(
    `SELECT run_id AS run, workflow, error, finished_at, ${this.db.sql.tagsOf('outcome.run_id')} AS tags FROM outcome
     WHERE status = 'failed' AND (finished_at, run_id) > (CAST(? AS bigint), ?) AND finished_at < ?
       AND resolution IS NULL
     ORDER BY finished_at, run_id LIMIT ?`,
  )
  // Index: primary key.
  readonly #created = this.db.pluck<[string], number>('SELECT created_at FROM run WHERE id = ?')

  /**
   * Newest first. Reads until `limit` runs match, which may be every run: for a filter of a person
   * use `searchRuns`.
   */
  async listRuns({ limit, ...filter }: RunFilter & { limit: number }): Promise<Run[]> {
    const runs: Run[] = []
    let after: string | null = null
    for (let rows = Math.max(limit, 1); ; rows = Math.min(4 * rows, MAX_ROWS)) {
      const part: SearchPart<Run> = await this.searchRuns(filter, { rows, limit: limit - runs.length, after })
      runs.push(...part.items)
      if (part.next === null || runs.length >= limit) return runs
      after = part.next
    }
  }

  /** One slice of the runs that match; `searchPage` joins slices. */
  async searchRuns(filter: RunFilter, slice: SearchSlice): Promise<SearchPart<Run>> {
    const path = await planRunPath(filter, this.parts, this.db)
    if (!path.isWhole || filter.workflow === undefined) return this.#searchPath(path, slice)
    const zone = await this.#zones.find(filter.workflow, slice.after)
    const part = await this.#searchPath(narrow(path, { from: zone.from }), slice)
    if (part.next !== null || zone.next === null || zone.next <= firstId('run', filter.since ?? 0)) return part
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

  /** The failed runs of one slice by kind, whatever its `limit`; see `mergeFailureGroups`. */
  async groupFailures(filter: FailureFilter, slice: SearchSlice): Promise<SearchPart<FailureGroup>> {
    const path = await planRunPath({ ...filter, status: 'failed' }, this.parts, this.db)
    const span = await this.#findSpan(path, slice)
    const { where, values } = buildWhere(conditionsOf(span.path))
    const rows = this.db.prepare<unknown[], FailureRow>(
      `SELECT run.id, run.workflow, run.error, run.finished_at, run.resolution FROM full_run AS run ${where}`,
    )
    const kept = (await rows.all(...values)).filter((row) => path.keeps?.(row) ?? true)
    return endOf(span, mergeFailureGroups(kept.map(toGroup)))
  }

  /**
   * Failed runs that ended behind `after` and before `until`, by their ends; no resolved ones.
   * Index: outcome_failed_end.
   */
  async listEndedFailures({
    after,
    until,
    limit,
  }: {
    after: EndMark
    until: number
    limit: number
  }): Promise<EndedFailure[]> {
    const rows = await this.#ended.all(after.at, after.run, until, limit)
    return rows.map(({ error, tags, ...row }) => ({ ...row, error: JSON.parse(error), tags: JSON.parse(tags ?? '{}') }))
  }

  async #read(path: RunPath, limit: number): Promise<Run[]> {
    if (path.keeps !== null) return this.#readKept({ ...path, keeps: path.keeps }, limit)
    const { where, values } = buildWhere(conditionsOf(path))
    const rows = this.db.prepare<unknown[], RunRow>(`${selectRuns(this.db.sql)} ${where} ORDER BY run.id DESC LIMIT ?`)
    return (await rows.all(...values, limit)).map(readRun)
  }

  /** The same where our code decides: first the ids of the runs, then their rows. */
  async #readKept(path: RunPath & { keeps: NonNullable<RunPath['keeps']> }, limit: number): Promise<Run[]> {
    const { where, values } = buildWhere(conditionsOf(path))
    const candidates = this.db.prepare<unknown[], { id: string; workflow: string; error: string | null }>(
      `SELECT run.id, run.workflow, run.error FROM full_run AS run ${where} ORDER BY run.id DESC`,
    )
    const kept = (await candidates.all(...values)).filter(path.keeps).slice(0, limit)
    const rows = this.db.prepare<[string[]], RunRow>(
      `${selectRuns(this.db.sql)} WHERE ${this.db.sql.isOneOf('run.id', 'text')} ORDER BY run.id DESC`,
    )
    return (await rows.all(kept.map(({ id }) => id))).map(readRun)
  }

  async #findSpan(whole: RunPath, { rows, after }: SearchSlice): Promise<Span> {
    const path = narrow(whole, { below: after ?? undefined })
    const { where, values } = buildWhere(foundIn(path))
    const edge = this.db.pluck<unknown[], string>(
      `SELECT run.id FROM ${path.source} AS run ${where} ORDER BY run.id DESC LIMIT 1 OFFSET ?`,
    )
    const id = await edge.get(...values, rows - 1)
    if (id !== undefined) return { path: narrow(path, { from: id }), last: await this.#at(id), rows, isLast: false }
    const rest = this.db.prepare<unknown[], { id: string | null; count: number }>(
      `SELECT min(run.id) AS id, count(*) AS count FROM ${path.source} AS run ${where}`,
    )
    const { id: oldest = null, count = 0 } = (await rest.get(...values)) ?? {}
    return { path, last: oldest === null ? null : await this.#at(oldest), rows: count, isLast: true }
  }

  async #at(id: string): Promise<{ id: string; createdAt: number }> {
    return { id, createdAt: (await this.#created.get(id)) ?? 0 }
  }

  async #countDownTo(path: RunPath, id: string): Promise<number> {
    const { where, values } = buildWhere(foundIn(narrow(path, { from: id })))
    const count = this.db.pluck<unknown[], number>(`SELECT count(*) FROM ${path.source} AS run ${where}`)
    return (await count.get(...values)) ?? 0
  }
}

function narrow(path: RunPath, span: IdSpan): RunPath {
  return { ...path, span: narrowSpan(path.span, span) }
}

function foundIn({ along, span }: RunPath): Condition[] {
  return [...along, ...boundIds('run.id', span)]
}

/** The conditions of a path on `full_run`. */
function conditionsOf(path: RunPath): Condition[] {
  const found = foundIn(path)
  if (path.source === 'run') return [...found, ...path.each]
  const { where, values } = buildWhere(found)
  return [[`run.id IN (SELECT run.id FROM ${path.source} AS run ${where})`, ...values], ...path.each]
}

function endOf<Item>({ last, rows, isLast }: Span, items: Item[]): SearchPart<Item> {
  return { items, next: isLast ? null : (last?.id ?? null), rows, from: last?.createdAt ?? null }
}

function toGroup({ id, workflow, error, finishedAt: at, resolution }: FailureRow): FailureGroup {
  return groupOne({ run: id, workflow, error: JSON.parse(error), at, isResolved: resolution !== null })
}

const HOUR_MS = 3_600_000
/** The newest counted hour is read like the present one: a run of it may be committed late. */
const SLACK_HOURS = 1

/** A stretch of runs to read: ids from `from` on, and where the next older stretch ends. */
interface Zone {
  from: string
  /** Above every id of the next stretch; null where none has a run of the workflow. */
  next: string | null
}

/**
 * Hours in which a workflow has runs, by the hours that are counted. The list of a rare workflow
 * visits only these. See decision 48.
 */
class WorkflowZones extends Table {
  // Index: primary keys; run_hour is read from an hour down to the first that has the workflow.
  readonly #counted = this.db.pluck<[], number>('SELECT hour FROM hour_counted')
  readonly #newestBelow = this.db.pluck<[number, string], number>(
    'SELECT hour FROM run_hour WHERE hour < ? AND workflow = ? ORDER BY hour DESC LIMIT 1',
  )
  readonly #has = this.db.pluck<[number, string], number>(
    'SELECT 1 FROM run_hour WHERE hour = ? AND workflow = ? LIMIT 1',
  )

  /** The stretch below the position `after`; null: from the newest run on. */
  async find(workflow: string, after: string | null): Promise<Zone> {
    const live = ((await this.#counted.get()) ?? 0) - SLACK_HOURS
    const hour = after === null ? live + 1 : hourBelow(after)
    if (hour > live) return { from: startOf(live + 1), next: await this.#nextBelow(workflow, live + 1) }
    // A stretch ends above its hour, so that the hour itself may have nothing to read.
    const isOwn = (await this.#has.get(hour, workflow)) !== undefined
    const own = isOwn ? hour : await this.#newestBelow.get(hour, workflow)
    if (own === undefined) return { from: startOf(hour), next: null }
    return { from: startOf(own), next: await this.#nextBelow(workflow, own) }
  }

  async #nextBelow(workflow: string, hour: number): Promise<string | null> {
    const next = await this.#newestBelow.get(hour, workflow)
    return next === undefined ? null : startOf(next + 1)
  }
}

/** The hour of the newest run below a position. The start of an hour is above all before it. */
function hourBelow(after: string): number {
  const hour = Math.floor(readIdTime(after) / HOUR_MS)
  return after <= startOf(hour) ? hour - 1 : hour
}

function startOf(hour: number): string {
  return firstId('run', hour * HOUR_MS)
}
