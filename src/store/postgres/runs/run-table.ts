import type { Failure } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import type { EventRecord } from '../../../core/incoming/event.ts'
import { groupFailure } from '../../../core/runs/failures/failure-group.ts'
import type { Lease } from '../../../core/runs/lease.ts'
import type { Run, Successor } from '../../../core/runs/run.ts'
import type { Store } from '../../../core/store/store.ts'
import { IS_OVER } from '../../rows/approvals/approval-rows.ts'
import { type RunRow, readRun } from '../../rows/runs/run-row.ts'
import type { Connection } from '../database/connection.ts'
import type { GateTable } from '../gates/gate-table.ts'
import { type EventTable, newestEvent } from '../incoming/event-table.ts'
import { prepareOpenRuns } from './open-runs.ts'
import { SELECT_RUNS } from './select-runs.ts'
import type { TickTable } from './tick-table.ts'

/** The row of an ended run, as it was. */
interface Ended {
  workflow: string
  tick_at: number | null
  tick_account: string | null
  gate_state: string | null
}

/** How a run ends. */
export interface Ending {
  status: 'completed' | 'failed' | 'skipped' | 'planned' | 'canceled'
  reason?: string
  output?: string | null
  error?: Failure
  byRule?: boolean
  foldedInto?: string | null
  /** False where its code never began. Default true. */
  isStarted?: boolean
  /** True where its worker may still write: its fence rises. Default false. */
  isTaken?: boolean
}

/** A run that worked without ending its worker is no suspect any more. */
const IS_SOUND = 'crashes = 0, suspicion = 0'
const IS_LEASED = `run_id = @runId AND fence = @fence AND status = 'running'`

/** The runs: from the queue to their ends. Index: primary keys, except where one is named. */
export class RunTable {
  readonly #events: EventTable
  readonly #ticks: TickTable
  readonly #gates: GateTable
  readonly #sql
  readonly countOpen

  constructor(db: Connection, { events, ticks, gates }: { events: EventTable; ticks: TickTable; gates: GateTable }) {
    this.#events = events
    this.#ticks = ticks
    this.#gates = gates
    this.#sql = { ...prepareParks(db), ...prepareEnds(db), ...prepareReads(db) }
    this.countOpen = prepareOpenRuns(db)
  }

  /** Ends a run under its lease; false when that is stale. */
  async end(lease: Lease, ending: Ending, now: number): Promise<boolean> {
    return this.#end(lease.runId, lease.fence, ending, now)
  }

  /** Ends a run whatever it does; false when it was over. */
  async endAny(runId: string, ending: Ending, now: number): Promise<boolean> {
    // The gates of a run in line come before its row, as in every other write. See decision 62.
    await this.#gates.lockGatesOf(runId)
    return this.#end(runId, null, ending, now)
  }

  /** The successor takes over all places before the end of the run could free them. */
  async continueAs(lease: Lease, { received, ...successor }: Successor, now: number): Promise<boolean> {
    if (!(await this.lock(lease))) return false
    await this.#sql.insertSuccessor.run({ ...lease, ...successor, received: JSON.stringify(received), now })
    await this.#sql.movePlaces.run(successor.run, lease.runId)
    await this.#sql.moveWait.run(successor.run, lease.runId)
    if (!(await this.end(lease, { status: 'completed', output: 'null' }, now))) return false
    await this.#sql.setSuccessor.run(successor.run, lease.runId)
    return true
  }

  /** For `countOpenRuns`; the run has ended. */
  async noteFailureKind(runId: string, error: Failure): Promise<void> {
    const workflow = (await this.#sql.workflowOf.get(runId)) ?? ''
    await this.#sql.setFailureKind.run(groupFailure(workflow, error).id, runId)
  }

  /** Starts the run that handles the failure of another. */
  async followUp(runId: string, now: number): Promise<void> {
    const id = newId('run', now)
    if ((await this.#sql.followUpRun.run(id, now, runId)).changes === 1) await this.#sql.followUpWork.run(id, runId)
  }

  /** A run is pending at once if something that it awaits came during its pass. */
  async park(
    lease: Lease,
    { dueAt, reason, awaits = [], hasNotStarted = false }: Parameters<Store['parkRun']>[1],
  ): Promise<boolean> {
    // Locked before it is read: what resolves a wait locks the row of the run as well.
    if ((await this.#sql.lockLeased.get(lease)) === undefined) return false
    const isOver = awaits.length > 0 && (await this.#sql.isResolved.get(lease.runId, [...awaits])) === 1
    if (isOver) await this.#sql.goOn.run(lease)
    else await this.#sql.park.run({ ...lease, dueAt, reason, hasNotStarted, awaits: awaits.length > 0 })
    if (!isOver) await this.#gates.sleep(lease.runId)
    return true
  }

  async postpone(lease: Lease, { dueAt, error }: { dueAt: number; error: Failure }): Promise<boolean> {
    const { changes } = await this.#sql.postpone.run({ ...lease, dueAt, error: JSON.stringify(error) })
    if (changes === 1) await this.#gates.sleep(lease.runId)
    return changes === 1
  }

  /** Locks the row of a lease to the end of the transaction; false when the lease is stale. */
  async lock(lease: Lease): Promise<boolean> {
    return (await this.#sql.lockLeased.get(lease)) !== undefined
  }

  async release(lease: Lease): Promise<boolean> {
    return (await this.#sql.release.run(lease)).changes === 1
  }

  /** Wakes a run that awaits an event, another run or people; true if it waited. */
  async wake(runId: string): Promise<boolean> {
    // Two statements: the second sees what the first has waited for.
    await this.#sql.lock.get([runId])
    return (await this.#sql.wake.run(runId)).changes === 1
  }

  /** Locks rows in the order of their ids, as every write of several runs does. */
  async lockAll(runIds: readonly string[]): Promise<void> {
    if (runIds.length > 0) await this.#sql.lock.all([...runIds])
  }

  leases(worker: string): Promise<Omit<Lease, 'worker'>[]> {
    return this.#sql.leases.all(worker)
  }

  async nextDueAt(): Promise<number | null> {
    return (await this.#sql.nextDue.get()) ?? null
  }

  async hasSuspects(): Promise<boolean> {
    return (await this.#sql.suspect.get()) !== undefined
  }

  async find(id: string): Promise<Run | null> {
    const row = await this.#sql.find.get(id)
    return row ? readRun(row) : null
  }

  async listEvents(id: string): Promise<EventRecord[]> {
    const events = await Array.fromAsync(await this.#sql.events.all(id), (seq) => this.#events.get(seq))
    return events.sort((a, b) => a.receivedAt - b.receivedAt || a.seq - b.seq)
  }

  async #end(runId: string, fence: number | null, ending: Ending, now: number): Promise<boolean> {
    const { status, reason = null, output = null, error, byRule = false, foldedInto = null, isStarted = true } = ending
    const was = await this.#sql.end.get({
      ...{ runId, fence, status, reason, output, byRule, foldedInto, isStarted, now },
      error: error === undefined ? null : JSON.stringify(error),
      step: ending.isTaken === true ? 1 : 0,
    })
    if (!was) return false
    if (was.tick_at !== null) await this.#ticks.startQueued(was.workflow, was.tick_account ?? '')
    if (was.gate_state !== null) await this.#gates.leave(runId)
    return true
  }
}

/** Statements after which a run goes on later. */
function prepareParks(db: Connection) {
  return {
    lockLeased: db.prepare<Lease, number>(`SELECT 1 FROM work WHERE ${IS_LEASED} FOR UPDATE`),
    lock: db.prepare<[string[]], string>(
      'SELECT run_id FROM work WHERE run_id = ANY (?::text[]) ORDER BY run_id FOR UPDATE',
    ),
    isResolved: db
      .prepare<[string, string[]], number>(
        `SELECT 1 FROM wait WHERE run_id = ? AND key = ANY (?::text[]) AND ${IS_OVER} LIMIT 1`,
      )
      .pluck(),
    park: db.prepare<[Lease & { dueAt: number | null; reason: string; hasNotStarted: boolean; awaits: boolean }]>(
      `UPDATE work SET status = 'waiting', due_at = @dueAt, reason = @reason, worker = NULL, awaits = @awaits,
         ${IS_SOUND},
         started_at = CASE WHEN @hasNotStarted = 1 THEN NULL ELSE started_at END WHERE ${IS_LEASED}`,
    ),
    goOn: db.prepare<Lease>(`UPDATE work SET status = 'pending', worker = NULL, ${IS_SOUND} WHERE ${IS_LEASED}`),
    postpone: db.prepare<[Lease & { dueAt: number; error: string }]>(
      `UPDATE work SET status = 'waiting', due_at = @dueAt, reason = 'next attempt', error = @error,
         attempt = attempt + 1, worker = NULL, ${IS_SOUND} WHERE ${IS_LEASED}`,
    ),
    release: db.prepare<Lease>(`UPDATE work SET status = 'pending', worker = NULL WHERE ${IS_LEASED}`),
    // Only a run that is parked for a wait, not one that waits for a person.
    wake: db.prepare<[string]>(
      `UPDATE work SET status = 'pending', due_at = NULL, reason = NULL, awaits = 0
       WHERE run_id = ? AND status = 'waiting' AND awaits = 1`,
    ),
  }
}

/** Statements that end a run, and make the run that handles its failure. */
function prepareEnds(db: Connection) {
  return {
    end: db.prepare<[object], Ended>(
      `SELECT workflow, tick_at, tick_account, gate_state
       FROM end_run_1(@runId, @fence, @status, @reason, @output, @error, @now,
         @byRule = 1, @foldedInto, @isStarted = 1, @step)`,
    ),
    followUpRun: db.prepare<[string, number, string]>(
      `INSERT INTO run (id, workflow, event_seq, tick_at, input, account, depth, since_seq, created_at, origin,
         origin_run, handler, failure)
       SELECT ?, run.workflow, event_seq, tick_at, input, run.account, depth,
         ${newestEvent('coalesce(run.account, event.account)')},
         ?::bigint, 'failure', run.id, 'onFailure', outcome.error
       FROM run JOIN outcome ON outcome.run_id = run.id
         LEFT JOIN event ON event.seq = run.event_seq AND event.stream = run.event_seq % 8
       WHERE run.id = ? AND handler = 'run'`,
    ),
    insertSuccessor: db.prepare<[object]>(
      `WITH made AS (
         INSERT INTO run (id, workflow, input, account, parent_run, parent_step, depth, outlives, ends_by, since_seq,
           created_at, origin, origin_run, chain_seq, received)
         SELECT @run, workflow, @input, @account, parent_run, parent_step, depth, outlives, ends_by,
           ${newestEvent('@account::text')}, @now::bigint, 'continue', id,
           coalesce(chain_seq, since_seq, event_seq, 0), @received
         FROM run WHERE id = @runId RETURNING id)
       INSERT INTO work (run_id, workflow, status, rank, gates, gate_state)
       SELECT made.id, workflow, 'pending', rank, gates, gate_state FROM made, work WHERE run_id = @runId`,
    ),
    // Index: place_run.
    movePlaces: db.prepare<[string, string]>('UPDATE place SET run_id = ? WHERE run_id = ?'),
    // Index: wait_child.
    moveWait: db.prepare<[string, string]>('UPDATE wait SET child_run = ? WHERE child_run = ?'),
    workflowOf: db.prepare<[string], string>('SELECT workflow FROM run WHERE id = ?').pluck(),
    setFailureKind: db.prepare<[string, string]>('UPDATE outcome SET failure_group = ? WHERE run_id = ?'),
    setSuccessor: db.prepare<[string, string]>('UPDATE outcome SET continued_by = ? WHERE run_id = ?'),
    followUpWork: db.prepare<[string, string]>(
      `INSERT INTO work (run_id, workflow, status, rank, folded)
       SELECT ?, workflow, 'pending', rank, folded FROM outcome WHERE run_id = ?`,
    ),
  }
}

/** Statements that only read. */
function prepareReads(db: Connection) {
  return {
    find: db.prepare<[string], RunRow>(`${SELECT_RUNS} WHERE run.id = ?`),
    // Index: work_leased, work_waiting and work_suspect.
    leases: db.prepare<[string], Omit<Lease, 'worker'>>(
      `SELECT run_id AS runId, fence, era_1() AS era FROM work WHERE worker = ? AND status = 'running'`,
    ),
    nextDue: db
      .prepare<[], number | null>(`SELECT min(due_at) FROM work WHERE status = 'waiting' AND due_at IS NOT NULL`)
      .pluck(),
    suspect: db.prepare<[], number>(`SELECT 1 FROM work WHERE status = 'pending' AND suspicion >= 2 LIMIT 1`),
    // Index: primary key, then outcome_folded once per level. A fork, and a run that handles a
    // failure, has the events of its origin.
    events: db
      .prepare<[string], number>(
        `WITH RECURSIVE one (id) AS (SELECT ?::text COLLATE "C"
           UNION SELECT next.id FROM one, LATERAL (
             SELECT outcome.run_id AS id FROM outcome WHERE outcome.folded_into = one.id
             UNION ALL SELECT run.origin_run FROM run WHERE run.id = one.id AND run.origin IN ('fork', 'failure')
           ) AS next)
         SELECT DISTINCT event_seq FROM one
           CROSS JOIN LATERAL (SELECT event_seq FROM run WHERE id = one.id LIMIT 1) AS run
         WHERE event_seq IS NOT NULL`,
      )
      .pluck(),
  }
}
