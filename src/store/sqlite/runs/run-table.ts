import type { Failure } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import type { EventRecord } from '../../../core/incoming/event.ts'
import { groupFailure } from '../../../core/runs/failures/failure-group.ts'
import type { Lease } from '../../../core/runs/lease.ts'
import type { Run, RunStatus, Successor } from '../../../core/runs/run.ts'
import type { OpenRuns } from '../../../core/store/runs.ts'
import type { Store } from '../../../core/store/store.ts'
import type { Connection } from '../../connection.ts'
import { IS_OVER } from '../../rows/approvals/approval-rows.ts'
import { type RunRow, readRun } from '../../rows/runs/run-row.ts'
import { type EventTable, NEWEST_EVENT } from '../incoming/event-table.ts'
import { prepareOpenRuns } from './open-runs.ts'
import { selectRuns } from './select-runs.ts'

/** A run that worked without ending its worker is no suspect any more. */
const IS_SOUND = 'crashes = 0, suspicion = 0'

/** Condition of a write under a lease. */
const IS_LEASED = `id = @runId AND fence = @fence AND status = 'running'`
/** The same by position, for steps and ends of runs: binding names takes half as long again. */
export const IS_LEASED_BY_POSITION = `id = ? AND fence = ? AND status = 'running'`

/** The runs, from the queue to their ends. */
export class RunTable {
  readonly #events: EventTable
  readonly #parks
  readonly #ends
  readonly #reads
  readonly countOpen: (now: number) => Promise<OpenRuns>

  constructor(db: Connection, events: EventTable) {
    this.#events = events
    this.#parks = prepareParks(db)
    this.#ends = prepareEnds(db)
    this.#reads = prepareReads(db)
    this.countOpen = prepareOpenRuns(db)
  }

  /** False when the lease is stale, as in the other writes under one. */
  async complete(lease: Lease, output: string | null, now: number): Promise<boolean> {
    return (await this.#ends.complete.run(output, now, lease.runId, lease.fence)).changes === 1
  }

  async fail(lease: Lease, error: Failure, now: number, followUp = false): Promise<boolean> {
    const kind = groupFailure((await this.#ends.workflowOf.get(lease.runId)) ?? '', error).id
    if ((await this.#ends.fail.run(JSON.stringify(error), kind, now, lease.runId, lease.fence)).changes === 0)
      return false
    if (followUp) await this.#ends.followUp.run(newId('run', now), now, lease.runId)
    return true
  }

  async skip(lease: Lease, reason: string, now: number): Promise<boolean> {
    return (await this.#ends.skip.run(reason, now, lease.runId, lease.fence)).changes === 1
  }

  async endPlanned(
    lease: Lease,
    { reason, plan }: { reason: string; plan: string | null },
    now: number,
  ): Promise<boolean> {
    return (await this.#ends.endPlanned.run(reason, plan, now, lease.runId, lease.fence)).changes === 1
  }

  /** The successor takes over all places before the end of the run could free them. */
  async continueAs(lease: Lease, { received, ...successor }: Successor, now: number): Promise<boolean> {
    const made = { ...lease, ...successor, received: JSON.stringify(received), now }
    if ((await this.#ends.insertSuccessor.run(made)).changes === 0) return false
    await this.#ends.movePlaces.run(successor.run, lease.runId)
    await this.#ends.moveWait.run(successor.run, lease.runId)
    return (await this.#ends.endContinued.run(made)).changes === 1
  }

  /** A run is pending at once if something that it awaits came during its pass. */
  async park(
    lease: Lease,
    { dueAt, reason, awaits = [], hasNotStarted = false }: Parameters<Store['parkRun']>[1],
  ): Promise<boolean> {
    if (awaits.length > 0) {
      return (
        (await this.#parks.parkAwaiting.run({ ...lease, dueAt, reason, awaits: JSON.stringify(awaits) })).changes === 1
      )
    }
    return (await this.#parks.park.run({ ...lease, dueAt, reason, hasNotStarted: Number(hasNotStarted) })).changes === 1
  }

  async postpone(lease: Lease, { dueAt, error }: { dueAt: number; error: Failure }): Promise<boolean> {
    return (await this.#parks.postpone.run({ ...lease, dueAt, error: JSON.stringify(error) })).changes === 1
  }

  /** Lets a run go on that is parked for a wait, and not one that waits for a person. */
  async wake(runId: string): Promise<boolean> {
    return (await this.#parks.wake.run(runId)).changes === 1
  }

  async isLeased(lease: Lease): Promise<boolean> {
    return (await this.#reads.isLeased.get(lease)) !== undefined
  }

  async release(lease: Lease): Promise<boolean> {
    return (await this.#parks.release.run(lease)).changes === 1
  }

  /** `byRule`: a rule of its workflow cancels it. */
  async cancel(runId: string, reason: string, now: number, byRule = false): Promise<boolean> {
    return (await this.#ends.cancel.run(reason, now, Number(byRule), runId)).changes === 1
  }

  async leases(worker: string): Promise<{ runId: string; fence: number }[]> {
    return this.#reads.leases.all(worker)
  }

  async nextDueAt(): Promise<number | null> {
    return (await this.#reads.nextDue.get()) ?? null
  }

  async find(id: string): Promise<Run | null> {
    const row = await this.#reads.find.get(id)
    return row ? readRun(row) : null
  }

  async listEvents(id: string): Promise<EventRecord[]> {
    const seqs = new Set((await this.#reads.events.all(id)).sort((a, b) => a - b))
    return Array.fromAsync(seqs, async (seq) => this.#events.get(seq))
  }
}

/** Statements after which a run goes on later. Index: primary keys of run and wait. */
function prepareParks(db: Connection) {
  return {
    park: db.prepare(
      `UPDATE run SET status = 'waiting', due_at = @dueAt, reason = @reason, worker = NULL, ${IS_SOUND},
         started_at = iif(@hasNotStarted, NULL, started_at) WHERE ${IS_LEASED}`,
    ),
    parkAwaiting: db.prepare(
      `UPDATE run SET worker = NULL, ${IS_SOUND}, (status, due_at, reason, awaits) = (
         SELECT CASE WHEN isOver THEN 'pending' ELSE 'waiting' END, CASE WHEN isOver THEN NULL ELSE @dueAt END,
           CASE WHEN isOver THEN NULL ELSE @reason END, NOT isOver
         FROM (SELECT EXISTS (SELECT 1 FROM json_each(@awaits) AS awaited
           JOIN wait ON wait.run_id = @runId AND wait.key = awaited.value WHERE ${IS_OVER}) AS isOver))
       WHERE ${IS_LEASED}`,
    ),
    postpone: db.prepare(
      `UPDATE run SET status = 'waiting', due_at = @dueAt, reason = 'next attempt', error = @error,
         attempt = attempt + 1, worker = NULL, ${IS_SOUND} WHERE ${IS_LEASED}`,
    ),
    release: db.prepare(`UPDATE run SET status = 'pending', worker = NULL WHERE ${IS_LEASED}`),
    wake: db.prepare(
      `UPDATE run SET status = 'pending', due_at = NULL, reason = NULL, awaits = 0
       WHERE id = ? AND status = 'waiting' AND awaits = 1`,
    ),
  }
}

/** Statements that end a run, and the run that handles its failure. Index: primary key. */
function prepareEnds(db: Connection) {
  const end = (status: RunStatus, changes: string) =>
    db.prepare(
      `UPDATE run SET status = '${status}', ${changes}, worker = NULL, finished_at = ?
       WHERE ${IS_LEASED_BY_POSITION}`,
    )
  return {
    complete: end('completed', 'output = ?'),
    fail: end('failed', 'error = ?, failure_group = ?'),
    workflowOf: db.prepare<[string], string>('SELECT workflow FROM run WHERE id = ?').pluck(),
    skip: end('skipped', 'reason = ?'),
    endPlanned: end('planned', 'reason = ?, output = ?'),
    cancel: db.prepare(
      `UPDATE run SET status = 'canceled', reason = ?, fence = fence + 1, worker = NULL, due_at = NULL,
         finished_at = ?, by_rule = ?
       WHERE id = ? AND status IN ('pending', 'running', 'waiting')`,
    ),
    insertSuccessor: db.prepare(
      `INSERT INTO run (id, workflow, status, input, account, parent_run, parent_step, depth, outlives, ends_by,
         since_seq, priority, created_at, origin, origin_run, gates, gate_state, chain_seq, received)
       SELECT @run, workflow, 'pending', @input, @account, parent_run, parent_step, depth, outlives, ends_by,
         ${NEWEST_EVENT}, priority, @now, 'continue', id, gates, gate_state,
         coalesce(chain_seq, since_seq, event_seq, 0), @received
       FROM run WHERE ${IS_LEASED}`,
    ),
    // Index: place_run.
    movePlaces: db.prepare('UPDATE place SET run_id = ? WHERE run_id = ?'),
    // Index: wait_child.
    moveWait: db.prepare('UPDATE wait SET child_run = ? WHERE child_run = ?'),
    endContinued: db.prepare(
      `UPDATE run SET status = 'completed', output = 'null', continued_by = @run, worker = NULL, finished_at = @now
       WHERE ${IS_LEASED}`,
    ),
    followUp: db.prepare(
      `INSERT INTO run (id, workflow, status, event_seq, tick_at, input, account, depth, since_seq, priority,
         created_at, origin, origin_run, handler, failure, folded)
       SELECT ?, workflow, 'pending', event_seq, tick_at, input, account, depth, ${NEWEST_EVENT}, priority, ?,
         'failure', id, 'onFailure', error, folded
       FROM run WHERE id = ? AND handler = 'run'`,
    ),
  }
}

/** Statements that only read. */
function prepareReads(db: Connection) {
  return {
    // Index: primary key.
    find: db.prepare<[string], RunRow>(`${selectRuns()} WHERE run.id = ?`),
    isLeased: db.prepare<[Lease], number>(`SELECT 1 FROM run WHERE ${IS_LEASED}`).pluck(),
    // Index: run_leased.
    leases: db.prepare<[string], { runId: string; fence: number }>(
      `SELECT id AS runId, fence FROM run WHERE worker = ? AND status = 'running'`,
    ),
    // Index: run_waiting.
    nextDue: db
      .prepare<[], number | null>(`SELECT min(due_at) FROM run WHERE status = 'waiting' AND due_at IS NOT NULL`)
      .pluck(),
    // Index: primary key, then run_folded once per level. A fork, and a run that handles a failure,
    // has the events of its origin.
    events: db
      .prepare<[string], number>(
        `WITH RECURSIVE one (id) AS (VALUES (?)
           UNION SELECT run.id FROM one JOIN run ON run.folded_into = one.id
           UNION SELECT origin_run FROM one JOIN run ON run.id = one.id WHERE origin IN ('fork', 'failure'))
         SELECT event_seq FROM one JOIN run ON run.id = one.id WHERE event_seq IS NOT NULL`,
      )
      .pluck(),
  }
}
