import { UpshotError } from '../../../core/errors.ts'
import type { Route } from '../../../core/incoming/route.ts'
import { MADE_TO_ACT_REASON, NO_MODULE_REASON, PAUSED_REASON, RECHECK_MS } from '../../../core/runs/run.ts'
import type { CronTrigger } from '../../../core/runs/schedule.ts'
import type { LoadedWorkflows, SavedWorkflows, WorkflowRecord } from '../../../core/runs/workflow-record.ts'
import { JoinedTable } from '../../connection.ts'
import type { ScheduleTable } from '../schedules/schedule-table.ts'
import { type DefinitionTable, type Known, writeDefinition } from './definition-table.ts'

/** The workers at work. Asked under the lock: another one may come while it is awaited. */
type Living = () => Promise<readonly string[]>

interface WorkflowRow {
  id: string
  file: string
  plan: string | null
  input: string | null
  priority: number
  runTimeout: number | null
  loadedAt: number
}

/** A run that is held because its workflow is paused, in the words of the index run_paused. */
const IS_HELD = `status = 'waiting' AND reason = '${PAUSED_REASON}'`

/** Runs that look again for their modules in one commit; others do in their turn. */
const MAX_AT_ONCE = 1_000

/** Workflows as the process that loads the modules saw them, with their routes and pauses. */
export class WorkflowTable extends JoinedTable<{ schedules: ScheduleTable; definitions: DefinitionTable }> {
  // Whole tables of a few dozen rows, in the order of their primary keys.
  readonly #list = this.db.prepare<[], WorkflowRow>(
    `SELECT workflow.id, file, schedule.plan, workflow.input, priority, run_timeout, loaded_at
     FROM workflow LEFT JOIN schedule ON schedule.id = workflow.id AND next_at IS NOT NULL ORDER BY workflow.id`,
  )
  readonly #insert = this.db.prepare(
    'INSERT INTO workflow (id, file, input, priority, run_timeout, loaded_at) VALUES (?, ?, ?, ?, ?, ?)',
  )
  readonly #touch = this.db.prepare('UPDATE workflow SET loaded_at = ? WHERE id = ?')
  readonly #delete = this.db.prepare('DELETE FROM workflow WHERE id = ?')
  readonly #routes = this.db.prepare<[], { workflow: string; eventType: string; priority: number }>(
    'SELECT workflow, event_type, priority FROM route JOIN workflow ON id = workflow ORDER BY workflow, event_type',
  )
  readonly #insertRoute = this.db.prepare(
    'INSERT INTO route (workflow, event_type) VALUES (?, ?) ON CONFLICT DO NOTHING',
  )
  // The lock of every write of workflows, held to its commit: two processes never mix their sets.
  readonly #version = this.db.pluck<[], number>(`SELECT version FROM workflow_version ${this.db.sql.forUpdate()}`)
  readonly #raise = this.db.prepare('UPDATE workflow_version SET version = version + 1')
  readonly #pauses = this.db.prepare<[], { workflow: string; pausedAt: number }>(
    'SELECT workflow, paused_at FROM workflow_pause ORDER BY workflow',
  )
  // Index: run_ready, with the rows of all workflows. Used once per slice of a pause.
  readonly #pendingOf = this.db.pluck<
    [string, number],
    string
  >(`SELECT run_id FROM work WHERE status = 'pending' AND suspicion < 2 AND workflow = ?
       ORDER BY turn, run_id LIMIT ?`)
  // Index: primary key.
  readonly #hold = this.db.prepare(
    `UPDATE work SET status = 'waiting', due_at = NULL, awaits = 0, reason = '${PAUSED_REASON}'
     WHERE run_id = ? AND status IN ('pending', 'waiting')`,
  )
  // Index: run_paused, oldest first.
  readonly #held = this.db.pluck<[string, number], string>(
    `SELECT run_id FROM work WHERE workflow = ? AND ${IS_HELD} ORDER BY run_id LIMIT ?`,
  )
  readonly #countHeld = this.db.prepare<[], { workflow: string; held: number }>(
    `SELECT workflow, count(*) AS held FROM work WHERE ${IS_HELD} GROUP BY workflow`,
  )
  // Index: run_paused, once for each of a few dozen workflows.
  readonly #forgotten = this.db.pluck<
    [],
    string
  >(`SELECT id FROM workflow WHERE id NOT IN (SELECT workflow FROM workflow_pause) AND EXISTS (
         SELECT 1 FROM work WHERE work.workflow = workflow.id AND ${IS_HELD}) LIMIT 1`)
  // Index: primary key.
  readonly #release = this.db.prepare(
    `UPDATE work SET status = 'pending', reason = NULL WHERE run_id = ? AND ${IS_HELD}`,
  )
  // Index: work_waiting, from now to the last moment at which such a run is due.
  readonly #lookAgain = this.db.prepare<[number, number, number, number]>(
    `UPDATE work SET due_at = ? WHERE run_id IN (
       SELECT run_id FROM work
       WHERE status = 'waiting' AND due_at > ? AND due_at <= ?
         AND (reason LIKE '${NO_MODULE_REASON}%' OR reason = '${MADE_TO_ACT_REASON}')
       ORDER BY due_at LIMIT ? ${this.db.sql.skipLocked})`,
  )

  /**
   * Replaces all workflows, except those of broken modules and of other workers in `living`.
   * `keepsAll`: nothing was loaded, and it only adds.
   */
  async save(
    { workflows, broken, worker }: LoadedWorkflows,
    living: Living,
    { now, keepsAll = false }: { now: number; keepsAll?: boolean },
  ): Promise<SavedWorkflows> {
    const { definitions } = this.parts
    const version = (await this.#version.get()) ?? 0
    const known = await this.listWorkflows()
    const others = await definitions.listSets(await living(), worker)
    const missing = known.filter(({ id }) => workflows.every((each) => each.id !== id))
    const isBroken = ({ file }: { file: string }) => broken.includes(file)
    const isElsewhere = ({ id }: { id: string }) => others.some(({ workflow }) => workflow === id)
    const kept = missing.filter((each) => keepsAll || isBroken(each) || isElsewhere(each))
    // A worker with a broken module stands for what is known, which the module had before.
    const own = await definitions.note([...workflows, ...kept.filter(isBroken)])
    if (worker !== undefined) await definitions.saveSet(worker, own)
    const before = keepsAll ? await definitions.note(known) : []
    // Unchanged ones were loaded again, with code that may be new. A broken module keeps its former
    // code.
    const isLoaded = (each: { file: string }) => !keepsAll && !isBroken(each)
    const loadedBefore = new Map(known.map(({ id, loadedAt }) => [id, loadedAt]))
    const loaded = workflows.map((each) => ({
      ...each,
      loadedAt: (isLoaded(each) ? undefined : loadedBefore.get(each.id)) ?? now,
    }))
    const wanted = await definitions.apply([...loaded, ...kept], [...own, ...others, ...before])
    if (version === 0 || !areSame(known, wanted)) await this.#replace(known, wanted, now)
    for (const { id, loadedAt } of wanted) await this.#touch.run(loadedAt, id)
    await this.#lookAgain.run(now, now, now + RECHECK_MS, MAX_AT_ONCE)
    const removed = missing.filter((each) => !kept.includes(each)).map(({ id }) => id)
    const elsewhere = kept.filter((each) => !isBroken(each)).map(({ id }) => id)
    return { removed, elsewhere }
  }

  /**
   * Gives the workflows the definitions that workers in `living` have, where they are of `version`.
   * Returns the version of those that differ; null: none does. A worker whose set went while it was
   * taken for dead has it again.
   */
  async review(
    loaded: LoadedWorkflows,
    living: Living,
    { now, version }: { now: number; version: number | null },
  ): Promise<number | null> {
    const { definitions } = this.parts
    const present = (await this.#version.get()) ?? 0
    const atWork = await living()
    const sets = await definitions.listSets(atWork)
    const isLost = atWork.includes(loaded.worker ?? '') && sets.every(({ worker }) => worker !== loaded.worker)
    if (isLost && loaded.workflows.length > 0) {
      await this.save(loaded, living, { now, keepsAll: true })
      return null
    }
    const known = await this.listWorkflows()
    const wanted = await definitions.apply(known, sets)
    if (areSame(known, wanted)) return null
    if (present !== version) return present
    await this.#replace(known, wanted, now)
    return null
  }

  async remove(workflow: string, living: Living, now: number): Promise<void> {
    await this.#version.get()
    if ((await this.parts.definitions.listSets(await living())).some((each) => each.workflow === workflow)) {
      throw new UpshotError('conflict', `A worker at work has the workflow "${workflow}".`, {
        details: { fix: 'Remove its module from the workflows folder, and start that worker again.' },
      })
    }
    await this.parts.schedules.saveLines([], [workflow], now)
    if ((await this.#delete.run(workflow)).changes === 0) {
      throw new UpshotError('not_found', `There is no workflow "${workflow}".`)
    }
    await this.#raise.run()
  }

  async #replace(known: readonly WorkflowRecord[], wanted: readonly Known[], now: number): Promise<void> {
    for (const { id } of known) await this.#delete.run(id)
    for (const { id, file, eventTypes, input, priority = 0, runTimeoutMs = null, loadedAt } of wanted) {
      const schema = input === undefined ? null : JSON.stringify(input)
      await this.#insert.run(id, file, schema, priority, runTimeoutMs, loadedAt)
      for (const type of eventTypes) await this.#insertRoute.run(id, type)
    }
    const lines = wanted.flatMap(({ id, file, schedule: line }) => (line === null ? [] : [{ id, file, line }]))
    const gone = known.filter(({ id, schedule }) => schedule !== null && lines.every((line) => line.id !== id))
    await this.parts.schedules.saveLines(
      lines,
      gone.map(({ id }) => id),
      now,
    )
    await this.#raise.run()
  }

  /** By id. */
  async listWorkflows(): Promise<WorkflowRecord[]> {
    const pauses = new Map((await this.#pauses.all()).map((row) => [row.workflow, row.pausedAt]))
    const routes = Map.groupBy(await this.#routes.all(), (row) => row.workflow)
    const held = new Map((await this.#countHeld.all()).map((row) => [row.workflow, row.held]))
    return (await this.#list.all()).map(({ id, file, plan, input, priority, runTimeout, loadedAt }) => ({
      id,
      file,
      eventTypes: (routes.get(id) ?? []).map((row) => row.eventType),
      schedule: plan === null ? null : (JSON.parse(plan) as CronTrigger),
      ...(input === null ? {} : { input: JSON.parse(input) }),
      ...(priority === 0 ? {} : { priority }),
      ...(runTimeout === null ? {} : { runTimeoutMs: runTimeout }),
      loadedAt: loadedAt,
      pausedAt: pauses.get(id) ?? null,
      held: held.get(id) ?? 0,
    }))
  }

  /** Rises with each change of a workflow; 0 until modules were loaded. */
  readonly version = this.readValue<[], number>('SELECT version FROM workflow_version')

  /** Null until modules were loaded. */
  async routes(): Promise<readonly Route[] | null> {
    return (await this.version()) ? (await this.#routes.all()).map(readRoute) : null
  }

  async paused(): Promise<ReadonlySet<string>> {
    return new Set((await this.#pauses.all()).map((row) => row.workflow))
  }

  /**
   * Runs claimed from now on are held; passes under way continue. False when it was paused already.
   */
  readonly pauseWorkflow = this.change<[workflow: string, now: number]>(
    'INSERT INTO workflow_pause (workflow, paused_at) VALUES (?, ?) ON CONFLICT DO NOTHING',
  )

  /** Ends the pause. False when there was none. */
  readonly resumeWorkflow = this.change<[workflow: string]>('DELETE FROM workflow_pause WHERE workflow = ?')

  /**
   * Holds up to `limit` pending runs of a paused workflow; returns how many. Claims hold the others
   * as they meet them. None once it is resumed.
   */
  async holdRuns(workflow: string, limit: number): Promise<number> {
    if (!(await this.paused()).has(workflow)) return 0
    let held = 0
    for (const run of await this.#pendingOf.all(workflow, limit)) held += (await this.hold(run)) ? 1 : 0
    return held
  }

  /** Makes up to `limit` held runs pending, oldest first; returns how many. None while paused. */
  async releaseHeldRuns(workflow: string, limit: number): Promise<number> {
    if ((await this.paused()).has(workflow)) return 0
    let released = 0
    for (const run of await this.#held.all(workflow, limit)) released += (await this.#release.run(run)).changes
    return released
  }

  /** Releases held runs of one resumed workflow, left by a process that died while it resumed. */
  async releaseForgotten(limit: number): Promise<void> {
    const forgotten = await this.#forgotten.get()
    if (forgotten !== undefined) await this.releaseHeldRuns(forgotten, limit)
  }

  /** A held run keeps its slots: they are of its workflow alone, so its line stays in order. */
  async hold(runId: string): Promise<boolean> {
    return (await this.#hold.run(runId)).changes === 1
  }
}

function readRoute(row: { workflow: string; eventType: string; priority: number }): Route {
  const route = { eventType: row.eventType, workflow: row.workflow }
  return row.priority === 0 ? route : { ...route, priority: row.priority }
}

function areSame(known: readonly Known[], wanted: readonly Known[]): boolean {
  const texts = [known, wanted].map((each) =>
    each
      .map((one) => `${one.id} ${writeDefinition(one)}`)
      .sort()
      .join('\n'),
  )
  return texts[0] === texts[1]
}
