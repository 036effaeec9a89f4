import type { Database } from 'better-sqlite3'
import { UpshotError } from '../../../core/errors.ts'
import type { Route } from '../../../core/incoming/route.ts'
import { PAUSED_REASON } from '../../../core/runs/run.ts'
import type { CronTrigger } from '../../../core/runs/schedule.ts'
import type { LoadedWorkflows, SavedWorkflows, WorkflowRecord } from '../../../core/runs/workflow-record.ts'
import { IS_READY } from '../database/is-ready.ts'
import { VersionedCache } from '../database/versioned-cache.ts'

interface WorkflowRow {
  id: string
  file: string
  schedule: string | null
  priority: number
  run_timeout: number | null
  loaded_at: number
}

/** A run that is held because its workflow is paused, in the words of the index run_paused. */
const IS_HELD = `status = 'waiting' AND reason = '${PAUSED_REASON}'`

/** Workflows as the process that loads the modules saw them, with their routes and pauses. */
export class WorkflowTable {
  readonly #list
  readonly #insert
  readonly #touch
  readonly #delete
  readonly #routes
  readonly #insertRoute
  readonly #pauses
  readonly #pause
  readonly #unpause
  readonly #pendingOf
  readonly #hold
  readonly #held
  readonly #countHeld
  readonly #release
  readonly #forgotten
  readonly #dropSet
  readonly #addToSet
  readonly #sets
  readonly #otherSet
  readonly #elsewhere
  /** Null until modules were loaded. It is read for each delivery. */
  readonly #routeCache: VersionedCache<readonly Route[] | null>

  constructor(db: Database) {
    // Whole tables of a few dozen rows, in the order of their primary keys.
    this.#list = db.prepare<[], WorkflowRow>(
      'SELECT id, file, schedule, priority, run_timeout, loaded_at FROM workflow ORDER BY id',
    )
    this.#insert = db.prepare(
      'INSERT INTO workflow (id, file, schedule, priority, run_timeout, loaded_at) VALUES (?, ?, ?, ?, ?, ?)',
    )
    this.#touch = db.prepare('UPDATE workflow SET loaded_at = ? WHERE id = ?')
    this.#delete = db.prepare('DELETE FROM workflow WHERE id = ?')
    this.#routes = db.prepare<[], { workflow: string; event_type: string; priority: number }>(
      'SELECT workflow, event_type, priority FROM route JOIN workflow ON id = workflow ORDER BY workflow, event_type',
    )
    this.#insertRoute = db.prepare('INSERT OR IGNORE INTO route (workflow, event_type) VALUES (?, ?)')
    this.#routeCache = new VersionedCache(db, 'workflow_version', (version) =>
      version === 0 ? null : this.#routes.all().map(readRoute),
    )
    this.#pauses = db.prepare<[], { workflow: string; paused_at: number }>(
      'SELECT workflow, paused_at FROM workflow_pause ORDER BY workflow',
    )
    this.#pause = db.prepare('INSERT OR IGNORE INTO workflow_pause (workflow, paused_at) VALUES (?, ?)')
    this.#unpause = db.prepare('DELETE FROM workflow_pause WHERE workflow = ?')
    // Index: run_ready, with the rows of all workflows. Used once per slice of a pause.
    this.#pendingOf = db
      .prepare<[string, number], string>(
        `SELECT id FROM run WHERE ${IS_READY} AND workflow = ? ORDER BY turn, id LIMIT ?`,
      )
      .pluck()
    // Index: primary key.
    this.#hold = db.prepare(
      `UPDATE run SET status = 'waiting', due_at = NULL, awaits = 0, reason = '${PAUSED_REASON}'
       WHERE id = ? AND status IN ('pending', 'waiting')`,
    )
    // Index: run_paused, oldest first.
    this.#held = db
      .prepare<[string, number], string>(`SELECT id FROM run WHERE workflow = ? AND ${IS_HELD} ORDER BY id LIMIT ?`)
      .pluck()
    this.#countHeld = db.prepare<[string], number>(`SELECT count(*) FROM run WHERE workflow = ? AND ${IS_HELD}`).pluck()
    // Index: run_paused, once for each of a few dozen workflows.
    this.#forgotten = db
      .prepare<[], string>(
        `SELECT id FROM workflow WHERE id NOT IN (SELECT workflow FROM workflow_pause) AND EXISTS (
           SELECT 1 FROM run WHERE run.workflow = workflow.id AND ${IS_HELD}) LIMIT 1`,
      )
      .pluck()
    // Index: primary key, down to the next comment.
    this.#dropSet = db.prepare('DELETE FROM worker_workflow WHERE worker = ?')
    this.#addToSet = db.prepare('INSERT OR IGNORE INTO worker_workflow (worker, workflow) VALUES (?, ?)')
    // No index: a few workers with a few dozen workflows each.
    this.#sets = db.prepare<[], { worker: string; workflow: string }>('SELECT worker, workflow FROM worker_workflow')
    // Index: primary key. Asked at each claim, and empty where one worker is at work.
    this.#otherSet = db.prepare<[string], number>('SELECT 1 FROM worker_workflow WHERE worker <> ? LIMIT 1').pluck()
    this.#elsewhere = db
      .prepare<[string, string], string>(
        `SELECT workflow FROM worker_workflow AS theirs WHERE worker <> ? AND NOT EXISTS (
           SELECT 1 FROM worker_workflow WHERE worker = ? AND workflow = theirs.workflow)`,
      )
      .pluck()
    // Index: primary key.
    this.#release = db.prepare(`UPDATE run SET status = 'pending', reason = NULL WHERE id = ? AND ${IS_HELD}`)
  }

  /** Replaces all workflows, except those of broken modules and of other workers in `living`. */
  save({ workflows, broken, worker }: LoadedWorkflows, living: readonly string[], now: number): SavedWorkflows {
    const known = this.list()
    const others = this.#listSets(living, worker)
    const missing = known.filter(({ id }) => workflows.every((each) => each.id !== id))
    const kept = missing.filter(({ id, file }) => broken.includes(file) || others.has(id))
    if (worker !== undefined) this.#saveSet(worker, [...workflows, ...kept.filter(({ file }) => broken.includes(file))])
    const removed = missing.filter((each) => !kept.includes(each)).map(({ id }) => id)
    const elsewhere = kept.filter(({ file }) => !broken.includes(file)).map(({ id }) => id)
    const isChanged = this.#replace(known, [...workflows, ...kept], now)
    const loadedBefore = new Map(known.map(({ id, loadedAt }) => [id, loadedAt]))
    // Unchanged ones were loaded again, with code that may be new. A broken module keeps its former
    // code.
    for (const { id, file } of workflows) {
      this.#touch.run(broken.includes(file) ? (loadedBefore.get(id) ?? now) : now, id)
    }
    for (const { id, loadedAt } of kept) this.#touch.run(loadedAt, id)
    return { isChanged, removed, elsewhere }
  }

  remove(workflow: string, living: readonly string[]): void {
    const workers = this.#listSets(living).get(workflow) ?? []
    if (workers.length > 0) {
      throw new UpshotError('conflict', `A worker at work has the workflow "${workflow}".`, {
        details: { fix: 'Remove its module from the workflows folder, and start that worker again.' },
      })
    }
    if (this.#delete.run(workflow).changes === 0) {
      throw new UpshotError('not_found', `There is no workflow "${workflow}".`)
    }
    this.#routeCache.raise()
  }

  /** Workflows that other workers have and this one lacks. A dead worker takes its set with it. */
  elsewhere(worker: string): string[] {
    return this.#otherSet.get(worker) === undefined ? [] : this.#elsewhere.all(worker, worker)
  }

  /** Workers in `living` by workflow, without `except`. */
  #listSets(living: readonly string[], except?: string): Map<string, string[]> {
    const rows = this.#sets.all().filter(({ worker }) => worker !== except && living.includes(worker))
    const sets = Map.groupBy(rows, ({ workflow }) => workflow)
    return new Map([...sets].map(([workflow, each]) => [workflow, each.map(({ worker }) => worker)]))
  }

  #saveSet(worker: string, workflows: readonly { id: string }[]): void {
    this.#dropSet.run(worker)
    for (const { id } of workflows) this.#addToSet.run(worker, id)
  }

  /** False when nothing changed. */
  #replace(known: readonly WorkflowRecord[], wanted: readonly Definition[], now: number): boolean {
    const isKnown = JSON.stringify(known.map(describe)) === JSON.stringify(wanted.map(describe).toSorted(byId))
    if (isKnown && this.#routeCache.version() > 0) return false
    for (const { id } of known) this.#delete.run(id)
    for (const { id, file, eventTypes, schedule, priority = 0, runTimeoutMs = null } of wanted) {
      this.#insert.run(id, file, schedule && JSON.stringify(schedule), priority, runTimeoutMs, now)
      for (const type of eventTypes) this.#insertRoute.run(id, type)
    }
    this.#routeCache.raise()
    return true
  }

  list(): WorkflowRecord[] {
    const pauses = new Map(this.#pauses.all().map((row) => [row.workflow, row.paused_at]))
    const routes = Map.groupBy(this.#routes.all(), (row) => row.workflow)
    return this.#list.all().map(({ id, file, schedule, priority, run_timeout, loaded_at }) => ({
      id,
      file,
      eventTypes: (routes.get(id) ?? []).map((row) => row.event_type),
      schedule: schedule === null ? null : (JSON.parse(schedule) as CronTrigger),
      ...(priority === 0 ? {} : { priority }),
      ...(run_timeout === null ? {} : { runTimeoutMs: run_timeout }),
      loadedAt: loaded_at,
      pausedAt: pauses.get(id) ?? null,
      held: this.#countHeld.get(id) ?? 0,
    }))
  }

  routes(): readonly Route[] | null {
    return this.#routeCache.get()
  }

  /** The version of what `routes` gives in this turn. */
  knownVersion(): number {
    return this.#routeCache.knownVersion()
  }

  paused(): ReadonlySet<string> {
    return new Set(this.#pauses.all().map((row) => row.workflow))
  }

  pause(workflow: string, now: number): boolean {
    return this.#pause.run(workflow, now).changes === 1
  }

  resume(workflow: string): boolean {
    return this.#unpause.run(workflow).changes === 1
  }

  /** Holds pending runs of a paused workflow and returns their number; 0 once it is resumed. */
  holdPending(workflow: string, limit: number): number {
    if (!this.paused().has(workflow)) return 0
    return this.#pendingOf.all(workflow, limit).filter((id) => this.hold(id)).length
  }

  /** Releases held runs, oldest first, and returns their number; 0 while it is paused. */
  releaseHeld(workflow: string, limit: number): number {
    if (this.paused().has(workflow)) return 0
    return this.#held.all(workflow, limit).filter((id) => this.#release.run(id).changes === 1).length
  }

  /** Releases held runs of one resumed workflow, left by a process that died while it resumed. */
  releaseForgotten(limit: number): void {
    const forgotten = this.#forgotten.get()
    if (forgotten !== undefined) this.releaseHeld(forgotten, limit)
  }

  hold(runId: string): boolean {
    return this.#hold.run(runId).changes === 1
  }
}

type Definition = LoadedWorkflows['workflows'][number]

function readRoute(row: { workflow: string; event_type: string; priority: number }): Route {
  const route = { eventType: row.event_type, workflow: row.workflow }
  return row.priority === 0 ? route : { ...route, priority: row.priority }
}

function describe({ id, file, eventTypes, schedule, priority, runTimeoutMs }: Definition): {
  id: string
  text: string
} {
  return {
    id,
    text: JSON.stringify([file, [...new Set(eventTypes)].sort(), schedule, priority ?? 0, runTimeoutMs ?? 0]),
  }
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : 1
}
