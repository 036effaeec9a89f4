import type { Failure } from '../../../core/errors.ts'
import { newId, readIdTime } from '../../../core/ids.ts'
import type { EventRecord } from '../../../core/incoming/event.ts'
import { groupFailure } from '../../../core/runs/failure-group.ts'
import type { Lease } from '../../../core/runs/lease.ts'
import type { InvokedRun, Run, Successor } from '../../../core/runs/run.ts'
import type { OpenRuns } from '../../../core/store/runs.ts'
import { JoinedTable } from '../../connection.ts'
import { EVENTS_OF } from '../../rows/run-sql.ts'
import { IS_OVER } from '../approvals/approval-search.ts'
import type { GateTable } from '../gates/gate-table.ts'
import type { Events } from '../incoming/events.ts'
import type { TickTable } from '../schedules/tick-table.ts'
import type { AnnotationTable } from './annotation-table.ts'
import { FOR_PERSON, SELECT_OPEN } from './open-runs.ts'
import { type RunRow, readRun, selectRuns } from './select-runs.ts'

interface WorkRow {
  workflow: string
  reason: string | null
  rank: number
  fence: number
  attempt: number
  startedAt: number | null
  codeHash: string | null
  error: string | null
  gates: string | null
  gateState: string | null
  folded: number | null
  tickAt: number | null
  tickSchedule: string | null
  tickAccount: string | null
}

type InvokedRow = Omit<InvokedRun, 'error'> & { error: string | null }

export interface Park {
  dueAt: number | null
  reason: string
  awaits?: readonly string[]
  hasNotStarted?: boolean
}

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
/** Runs that one commit cancels below one of them at most. */
export const MAX_CLOSED = 250
const IS_LEASED = `run_id = @runId AND fence = @fence AND status = 'running'`

/** The runs: from the queue to their ends. Index: primary keys, except where one is named. */
export class RunTable extends JoinedTable<{
  events: Events
  ticks: TickTable
  gates: GateTable
  annotations: AnnotationTable
}> {
  readonly #hasRowLocks = this.db.sql.hasRowLocks
  readonly #sql = {
    // Statements after which a run goes on later.
    lock: this.db.prepare<[string[]], string>(
      `SELECT run_id FROM work WHERE ${this.db.sql.isOneOf('run_id', 'text')}
       ORDER BY run_id ${this.db.sql.forUpdate()}`,
    ),
    // The gates of runs in line come before their rows.
    lockOutside: this.db.prepare<[string[]], string>(
      `SELECT run_id FROM work WHERE ${this.db.sql.isOneOf('run_id', 'text')} AND gate_state IS DISTINCT FROM 'in_line'
       ORDER BY run_id ${this.db.sql.forUpdate()}`,
    ),
    // Index: wait_child.
    listParents: this.db.pluck<[string[]], string>(
      `SELECT run_id FROM wait WHERE ${this.db.sql.isOneOf('child_run', 'text')}`,
    ),
    // Index: wait_child and run_invoked. Rows of work are looked up by their key, one at a time.
    listAround: this.db.prepare<[string[], string[], number], { id: string; isBelow: number }>(
      `SELECT run_id AS id, 0 AS is_below FROM wait WHERE ${this.db.sql.isOneOf('child_run', 'text')}
       UNION ALL SELECT * FROM (
         SELECT id, 1 FROM run WHERE ${this.db.sql.isOneOf('parent_run', 'text')} AND outlives = 0
           AND (SELECT 1 FROM work WHERE run_id = run.id) = 1 ORDER BY id LIMIT ?) AS below`,
    ),
    isResolved: this.db.pluck<[string, string[]], number>(
      `SELECT 1 FROM wait WHERE run_id = ? AND ${this.db.sql.isOneOf('key', 'text')} AND ${IS_OVER} LIMIT 1`,
    ),
    park: this.db.prepare<[Lease & { dueAt: number | null; reason: string; hasNotStarted: boolean; awaits: boolean }]>(
      `UPDATE work SET status = 'waiting', due_at = @dueAt, reason = @reason, worker = NULL, awaits = @awaits,
         ${IS_SOUND},
         started_at = CASE WHEN @hasNotStarted = 1 THEN NULL ELSE started_at END WHERE ${IS_LEASED}`,
    ),
    goOn: this.db.prepare<Lease>(`UPDATE work SET status = 'pending', worker = NULL, ${IS_SOUND} WHERE ${IS_LEASED}`),
    postpone: this.db.prepare<[Lease & { dueAt: number; error: string }]>(
      `UPDATE work SET status = 'waiting', due_at = @dueAt, reason = 'next attempt', error = @error,
         attempt = attempt + 1, worker = NULL, ${IS_SOUND} WHERE ${IS_LEASED}`,
    ),
    // Only a run that is parked for a wait, not one that waits for a person.
    wake: this.db.prepare<[string]>(
      `UPDATE work SET status = 'pending', due_at = NULL, reason = NULL, awaits = 0
       WHERE run_id = ? AND status = 'waiting' AND awaits = 1`,
    ),
    // Statements that end a run, and make the run that handles its failure.
    take: this.db.prepare<[string, number], WorkRow>(
      `DELETE FROM work WHERE run_id = ? AND fence = ? AND status = 'running' RETURNING *`,
    ),
    takeAny: this.db.prepare<[string], WorkRow>('DELETE FROM work WHERE run_id = ? RETURNING *'),
    end: this.db.prepare(
      `INSERT INTO outcome (run_id, workflow, status, reason, rank, fence, attempt, started_at, finished_at, code_hash,
         output, error, by_rule, gates, gate_state, folded, folded_into)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    markHour: this.db.prepare(
      `INSERT INTO run_hour_mark (hour, version)
       SELECT created_at / 3600000, CAST(@version AS bigint) FROM run WHERE id = @runId
         AND (CAST(@endedAt AS bigint) IS NULL OR CAST(@endedAt AS bigint) / 3600000 > created_at / 3600000)
       ON CONFLICT (hour) DO UPDATE SET version = run_hour_mark.version + 1`,
    ),
    followUpRun: this.db.prepare<[string, number, string]>(
      `INSERT INTO run (id, workflow, event_seq, tick_at, schedule, input, account, depth, since_seq, created_at,
         origin, origin_run, handler, failure, events_of)
       SELECT ?, run.workflow, event_seq, tick_at, schedule, input, run.account, depth,
         ${this.db.sql.newestEvent('coalesce(run.account, event.account)')},
         CAST(? AS bigint), 'failure', run.id, 'onFailure', outcome.error, ${EVENTS_OF}
       FROM run JOIN outcome ON outcome.run_id = run.id
         LEFT JOIN event ON ${this.db.sql.isEvent('run.event_seq')}
       WHERE run.id = ? AND handler = 'run'`,
    ),
    insertSuccessor: this.db.prepare(
      `INSERT INTO run (id, workflow, tick_at, schedule, input, account, parent_run, parent_step, depth, outlives,
         ends_by, since_seq, created_at, origin, origin_run, chain_seq, received)
       SELECT @run, workflow, tick_at, schedule, @input, @account, parent_run, parent_step, depth, outlives, ends_by,
         ${this.db.sql.newestEvent('CAST(@account AS text)')}, CAST(@now AS bigint), 'continue', id,
         coalesce(chain_seq, since_seq, event_seq, 0), @received
       FROM run WHERE id = @runId`,
    ),
    queueSuccessor: this.db.prepare<[string, string]>(
      `INSERT INTO work (run_id, workflow, status, rank, gates, gate_state, tick_at, tick_schedule, tick_account)
       SELECT ?, workflow, 'pending', rank, gates, gate_state, tick_at, tick_schedule, tick_account
       FROM work WHERE run_id = ?`,
    ),
    // Index: gate_slot_run.
    moveSlots: this.db.prepare<[string, string]>('UPDATE gate_slot SET run_id = ? WHERE run_id = ?'),
    // Index: wait_child.
    moveWait: this.db.prepare<[string, string]>('UPDATE wait SET child_run = ? WHERE child_run = ?'),
    workflowOf: this.db.pluck<[string], string>('SELECT workflow FROM run WHERE id = ?'),
    setFailureKind: this.db.prepare<[string, string]>('UPDATE outcome SET failure_group = ? WHERE run_id = ?'),
    foldAnew: this.db.prepare('UPDATE outcome SET folded_into = ? WHERE run_id = ? AND folded_into = ?'),
    setSuccessor: this.db.prepare<[string, string]>('UPDATE outcome SET continued_by = ? WHERE run_id = ?'),
    followUpWork: this.db.prepare<[string, string]>(
      `INSERT INTO work (run_id, workflow, status, rank, folded)
       SELECT ?, workflow, 'pending', rank, folded FROM outcome WHERE run_id = ?`,
    ),
    // Statements that only read.
    eventsOf: this.db.pluck<[string], string>('SELECT events_of FROM run WHERE id = ? AND events_of IS NOT NULL'),
    // Index: outcome_folded, once per level.
    folded: this.db.pluck<[string[]], string>(
      `SELECT run_id FROM outcome WHERE ${this.db.sql.isOneOf('folded_into', 'text')}`,
    ),
  }
  readonly countOpenRuns = this.readOne<[now: number], OpenRuns>(SELECT_OPEN)

  /** Runs that only a person lets go on, by workflow. Index: work_for_person. */
  readonly tallyForPerson = this.readRows<[], { workflow: string; runs: number }>(
    `SELECT workflow, count(*) AS runs FROM work WHERE ${FOR_PERSON} GROUP BY workflow ORDER BY workflow`,
  )

  /** Ends a run under its lease; false when that is stale. */
  async end(lease: Lease, ending: Ending, now: number): Promise<boolean> {
    await (ending.status === 'failed' ? this.lockTrees([lease.runId]) : this.lockToEnd([lease.runId]))
    return this.#end(lease.runId, lease.fence, ending, now)
  }

  /**
   * Ends a run whatever it does; false when it was over. The caller has locked it with
   * {@link lockTrees}, or with {@link lockToEnd} where it has not started.
   */
  endAny(runId: string, ending: Ending, now: number): Promise<boolean> {
    return this.#end(runId, null, ending, now)
  }

  /** The successor takes over all slots before the end of the run could free them. */
  async continueAs(lease: Lease, { received, ...successor }: Successor, now: number): Promise<boolean> {
    await this.lockToEnd([lease.runId])
    if (!(await this.lock(lease))) return false
    await this.#sql.insertSuccessor.run({ ...lease, ...successor, received: JSON.stringify(received), now })
    await this.#sql.queueSuccessor.run(successor.run, lease.runId)
    await this.parts.annotations.copyTags(lease.runId, successor.run)
    await this.#sql.moveSlots.run(successor.run, lease.runId)
    await this.#sql.moveWait.run(successor.run, lease.runId)
    await this.#end(lease.runId, lease.fence, { status: 'completed', output: 'null' }, now)
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
    if ((await this.#sql.followUpRun.run(id, now, runId)).changes === 0) return
    await this.#sql.followUpWork.run(id, runId)
    await this.parts.annotations.copyTags(runId, id)
  }

  /** A run is pending at once if something that it awaits came during its pass. */
  async park(lease: Lease, { dueAt, reason, awaits = [], hasNotStarted = false }: Park): Promise<boolean> {
    // Locked before it is read: what resolves a wait locks the row of the run as well.
    if (!(await this.lock(lease))) return false
    const isOver = awaits.length > 0 && (await this.#sql.isResolved.get(lease.runId, [...awaits])) === 1
    if (isOver) await this.#sql.goOn.run(lease)
    else await this.#sql.park.run({ ...lease, dueAt, reason, hasNotStarted, awaits: awaits.length > 0 })
    if (!isOver) await this.parts.gates.sleep(lease.runId)
    return true
  }

  async postpone(lease: Lease, { dueAt, error }: { dueAt: number; error: Failure }): Promise<boolean> {
    const { changes } = await this.#sql.postpone.run({ ...lease, dueAt, error: JSON.stringify(error) })
    if (changes === 1) await this.parts.gates.sleep(lease.runId)
    return changes === 1
  }

  /** Locks the row of a lease to the end of the transaction; false when the lease is stale. */
  readonly lock = this.hasRow<[Lease]>(`SELECT 1 FROM work WHERE ${IS_LEASED} ${this.db.sql.forUpdate()}`)

  readonly release = this.change<[Lease]>(`UPDATE work SET status = 'pending', worker = NULL WHERE ${IS_LEASED}`)

  /** Wakes a run that awaits an event, another run or people; true if it waited. */
  async wake(runId: string): Promise<boolean> {
    // Two statements: the second sees what the first has waited for.
    await this.lockAll([runId])
    return (await this.#sql.wake.run(runId)).changes === 1
  }

  /** Locks rows in the order of their ids, as every write of several runs does. */
  async lockAll(runIds: readonly string[]): Promise<void> {
    if (this.#hasRowLocks && runIds.length > 0) await this.#sql.lock.all([...runIds])
  }

  /**
   * Locks what the ends of runs lock, and of what they have invoked and may not outlive them. The
   * rows of those in line come later, behind their gates, which come last here. See decision 62.
   */
  async lockTrees(runIds: readonly string[]): Promise<void> {
    if (!this.#hasRowLocks || runIds.length === 0) return
    await this.parts.ticks.lockTicksOf(runIds)
    const parents: string[] = []
    const runs = [...runIds]
    const most = runs.length + MAX_CLOSED
    for (let level = runs; level.length > 0 && runs.length < most; ) {
      const around = await this.#sql.listAround.all(level, level, most - runs.length)
      parents.push(...around.filter(({ isBelow }) => isBelow === 0).map(({ id }) => id))
      level = around.filter(({ isBelow }) => isBelow === 1).map(({ id }) => id)
      runs.push(...level)
    }
    if (parents.length + runs.length > 1) await this.#sql.lockOutside.all([...parents, ...runs])
    await this.parts.gates.lockGatesOf(...runs)
  }

  /** Locks the ticks of their schedules, then the runs and those that wait for their ends. */
  async lockToEnd(runIds: readonly string[]): Promise<void> {
    if (!this.#hasRowLocks) return
    await this.parts.ticks.lockTicksOf(runIds)
    const parents = await this.#sql.listParents.all([...runIds])
    if (parents.length + runIds.length > 1) await this.lockAll([...parents, ...runIds])
  }

  /**
   * The valid leases of a worker. A run that is missing was canceled or taken over. Index:
   * work_leased.
   */
  readonly listLeases = this.readRows<[worker: string], Omit<Lease, 'worker'>>(
    `SELECT run_id, fence${this.db.sql.era} FROM work WHERE worker = ? AND status = 'running'`,
  )

  /** Earliest `dueAt` of the waiting runs; null when there is none. Index: work_waiting. */
  readonly nextDueAt = this.readValue<[], number>(
    `SELECT min(due_at) FROM work WHERE status = 'waiting' AND due_at IS NOT NULL`,
  )

  /** Whether a run waits to be tried alone. Index: work_suspect. */
  readonly hasSuspects = this.hasRow<[]>(`SELECT 1 FROM work WHERE status = 'pending' AND suspicion >= 2 LIMIT 1`)

  /**
   * Whether a run that was folded into this one has a newer event. It has in a batch, where the
   * oldest run gathers. Index: outcome_folded, and primary keys.
   */
  readonly hasNewerFolded = this.hasRow<[id: string]>(
    `SELECT 1 FROM run AS own JOIN outcome ON folded_into = own.id JOIN run ON run.id = outcome.run_id
     WHERE own.id = ? AND run.event_seq > own.event_seq LIMIT 1`,
  )

  readonly findRun = this.readRow<[id: string], RunRow, Run>(`${selectRuns(this.db.sql)} WHERE run.id = ?`, readRun)

  /** The run that a step waits for, or the newest of its chain; null for no such wait. */
  readonly findInvoked = this.readRow<[runId: string, key: string], InvokedRow, InvokedRun>(
    `SELECT id, status, reason, output, error, finished_at, origin_run FROM full_run
     WHERE id = (SELECT child_run FROM wait WHERE run_id = ? AND key = ?)`,
    (row) => ({ ...row, error: row.error === null ? null : JSON.parse(row.error) }),
  )

  /**
   * The run's own event and those of runs folded into it, in the order of arrival. A fork, and a
   * run that handles a failure, has the events of its origin.
   */
  async listRunEvents(id: string): Promise<EventRecord[]> {
    const runs = await this.#listFolded([id, ...(await this.#sql.eventsOf.all(id))])
    const events = new Map((await this.parts.events.listEventsOf('run', runs)).map(({ event }) => [event.seq, event]))
    return [...events.values()].sort((a, b) => a.receivedAt - b.receivedAt || a.seq - b.seq)
  }

  /** Folds a run into `to` that was folded into `from`; false where it was not. */
  async foldAnew(run: string, { from, to }: { from: string; to: string }): Promise<boolean> {
    return (await this.#sql.foldAnew.run(to, run, from)).changes === 1
  }

  /** How many runs were folded into one, directly or through others. */
  async countFolded(id: string): Promise<number> {
    return (await this.#listFolded([id])).length - 1
  }

  /** These runs, and all that were folded into them. */
  async #listFolded(ids: string[]): Promise<string[]> {
    const below = await this.#sql.folded.all(ids)
    return below.length === 0 ? ids : [...ids, ...(await this.#listFolded(below))]
  }

  /** Its row of `work` becomes one of `outcome`. A null fence stands for any. */
  async #end(runId: string, fence: number | null, ending: Ending, now: number): Promise<boolean> {
    const was = await (fence === null ? this.#sql.takeAny.get(runId) : this.#sql.take.get(runId, fence))
    if (!was) return false
    const { status, reason = null, output = null, error, byRule = false, foldedInto = null } = ending
    await this.#sql.end.run(
      runId,
      was.workflow,
      status,
      reason ?? was.reason,
      was.rank,
      was.fence + (ending.isTaken ? 1 : 0),
      was.attempt,
      ending.isStarted === false ? null : was.startedAt,
      now,
      was.codeHash,
      output,
      error === undefined ? was.error : JSON.stringify(error),
      byRule ? 1 : 0,
      was.gates,
      was.gateState === null ? null : 'outside',
      was.folded,
      foldedInto,
    )
    // Most runs end in the hour that their id tells.
    if (hourOf(readIdTime(runId)) !== hourOf(now)) await this.markHour(runId, now)
    if (was.tickAt !== null) await this.parts.ticks.startQueued(was.tickSchedule ?? was.workflow, was.tickAccount ?? '')
    if (was.gateState !== null) await this.parts.gates.leave(runId)
    return true
  }

  /** Marks the hour of a run to be counted again: it ended in a later one, or goes on (null). */
  async markHour(runId: string, endedAt: number | null): Promise<void> {
    // Begins anywhere: no version is that of a mark before.
    const version = 1 + Math.floor(Math.random() * 1e15)
    await this.#sql.markHour.run({ runId, endedAt, version })
  }
}

function hourOf(moment: number): number {
  return Math.floor(moment / 3_600_000)
}
