import type { Database } from 'better-sqlite3'
import type { EventRecord } from '../../../core/incoming/event.ts'
import type { EventKey, MatchBatch, MatchResult } from '../../../core/runs/matching.ts'
import type { Run } from '../../../core/runs/run.ts'
import type { EventWait, Invocation, Question, SavedWithStep } from '../../../core/runs/wait.ts'
import { IS_OVER } from '../../rows/approvals/approval-rows.ts'
import type { EventTable } from '../incoming/event-table.ts'
import type { OwnEvents } from '../incoming/own-events.ts'
import type { RunTable } from '../runs/run-table.ts'
import type { ApprovalTable } from '../safety/approval-table.ts'
import type { ReservedTable } from '../safety/reserved-table.ts'
import type { WithdrawalTable } from '../safety/withdrawal-table.ts'
import type { ApprovalWaits } from './approval-waits.ts'
import type { MatchCursorTable } from './match-cursor-table.ts'

interface FoundWait {
  run_id: string
  key: string
  is_cancel: number
  workflow: string
}

/**
 * Waits that one transaction resolves and runs that it cancels, at most. The next one goes on with
 * the same event.
 */
const MAX_RESOLVED = 2_000

interface WaitTables {
  runs: RunTable
  events: EventTable
  cursors: MatchCursorTable
  approvals: ApprovalTable
  approvalWaits: ApprovalWaits
  reserved: ReservedTable
  withdrawals: WithdrawalTable
  ownEvents: OwnEvents
}

/** The waits of runs: for events, for the runs that they invoked, and for people. */
export class WaitTable {
  readonly #runs: RunTable
  readonly #events: EventTable
  readonly #cursors: MatchCursorTable
  readonly #approvals: ApprovalTable
  readonly #approvalWaits: ApprovalWaits
  readonly #reserved: ReservedTable
  readonly #withdrawals: WithdrawalTable
  readonly #ownEvents: OwnEvents
  readonly #waits
  readonly #runRows

  constructor(db: Database, tables: WaitTables) {
    this.#approvals = tables.approvals
    this.#approvalWaits = tables.approvalWaits
    this.#reserved = tables.reserved
    this.#withdrawals = tables.withdrawals
    this.#ownEvents = tables.ownEvents
    this.#runs = tables.runs
    this.#events = tables.events
    this.#cursors = tables.cursors
    this.#waits = prepareWaits(db)
    this.#runRows = prepareRuns(db)
  }

  /** Saves the rest of a step's commit, after its checkpoint. */
  saveWithStep(runId: string, key: string, saved: SavedWithStep): void {
    const { codeHash, wait, invoke, send, approve, expire, isSettled, cancel } = saved
    if (codeHash !== undefined) this.saveCodeHash(runId, codeHash)
    if (isSettled) this.#waits.delete.run(runId, key)
    if (wait) this.#open(runId, key, wait, { isCancel: false })
    if (invoke) this.#invoke(runId, key, invoke)
    if (send) this.#ownEvents.send(send)
    if (approve) this.#ask(runId, key, approve)
    if (expire) this.#approvals.expire(expire.approval, expire.now)
    if (cancel) this.cancel(cancel.run, cancel.reason, cancel.now)
  }

  saveCodeHash(runId: string, codeHash: string): void {
    this.#runRows.saveCodeHash.run(codeHash, runId)
  }

  /** Registers the events that cancel a run; false when one came already and canceled it. */
  watchRun(runId: string, cancels: readonly EventWait[], now: number): boolean {
    for (const [index, wait] of cancels.entries()) {
      // No step has such a key.
      const key = `#cancel${index}`
      if (this.#waits.findEvent.get(runId, key) !== undefined) continue
      const match = this.#open(runId, key, wait, { isCancel: true })
      if (match === null) continue
      const { id, type } = this.#events.get(match)
      this.cancel(runId, describeCancel(id, type), now, true)
      return false
    }
    return true
  }

  /** The event that a step waited for; null until it comes. */
  findMatch(runId: string, key: string): EventRecord | null {
    const seq = this.#waits.findEvent.get(runId, key)
    return typeof seq === 'number' ? this.#events.get(seq) : null
  }

  /** Deletes the waits of an ended run and wakes the run that invoked it. Returns true. */
  runEnded(runId: string, now: number): true {
    // Most runs have no waits: this check is cheaper than two statements that change no row.
    if (this.#waits.concernsRun.get(runId, runId) === 0) return true
    if (this.#waits.awaitsPeople.get(runId) !== undefined) this.#withdrawals.begin(runId, now)
    this.#reserved.releaseRun(runId)
    this.#waits.deleteOthers.run(runId)
    for (const parent of this.#waits.resolveParent.all(runId)) this.#runs.wake(parent)
    return true
  }

  /** Cancels what a failed run has invoked and may not outlive it. Returns true. */
  closeChildren(runId: string, now: number): true {
    for (const child of this.#runRows.listChildren.all(runId)) this.cancel(child, describeClose(runId, 'failed'), now)
    return true
  }

  /**
   * Cancels a run and what it invoked and may not outlive it, at any depth; returns those that were
   * unfinished.
   * `byRule`: a rule of its workflow cancels it.
   */
  cancel(runId: string, reason: string, now: number, byRule = false): string[] {
    const canceled: string[] = []
    const open = [{ runId, reason, byRule }]
    for (let next = open.pop(); next; next = open.pop()) {
      if (!this.#runs.cancel(next.runId, next.reason, now, next.byRule)) continue
      canceled.push(next.runId)
      this.runEnded(next.runId, now)
      const because = describeClose(next.runId, 'was canceled')
      for (const child of this.#runRows.listChildren.all(next.runId)) {
        open.push({ runId: child, reason: because, byRule: false })
      }
    }
    return canceled
  }

  /** The run that a step waits for; null where it waits for none. */
  findInvoked(runId: string, key: string): Run | null {
    const child = this.#waits.findChild.get(runId, key)
    return typeof child === 'string' ? this.#runs.find(child) : null
  }

  listEnded(runId: string): string[] {
    return this.#waits.listEnded.all(runId)
  }

  saveMatches(batch: MatchBatch, now: number): MatchResult {
    const unmoved = this.#cursors.listUnmoved(batch)
    const cursors = new Map(batch.cursors.map((cursor) => [cursor.id, cursor]))
    const result: MatchResult = { woken: 0, canceled: [] }
    let left = MAX_RESOLVED
    let to = batch.to
    for (const key of batch.keys) {
      const cursor = cursors.get(key.cursor)
      if (!cursor || !unmoved.has(key.cursor) || key.seq > to) continue
      this.#cursors.addKey(key)
      left -= this.#resolveWaits(cursor, key, { limit: left, now, result })
      // The next batch begins with this event again and resolves the remaining waits.
      if (left <= 0) to = key.seq - 1
    }
    for (const id of unmoved) this.#cursors.move(id, { from: batch.from, to, now })
    return result
  }

  /** Resolves the waits for an event; returns how many, with all runs that it canceled. */
  #resolveWaits(
    { type, name }: { type: string; name: string },
    { account, value, seq, event }: EventKey,
    { limit, now, result }: { limit: number; now: number; result: MatchResult },
  ): number {
    let done = 0
    for (const wait of this.#waits.findMatching.all(type, name, account, value, seq, limit)) {
      if (done >= limit) break
      done += 1
      if (wait.is_cancel === 1) {
        const reason = describeCancel(event, this.#events.get(seq).type)
        const canceled = this.cancel(wait.run_id, reason, now, true)
        done += canceled.length
        for (const run of canceled) result.canceled.push({ run, workflow: wait.workflow, reason })
      } else {
        this.#waits.resolve.run(seq, wait.run_id, wait.key)
        if (this.#runs.wake(wait.run_id)) result.woken += 1
      }
    }
    return done
  }

  /** Saves a wait; returns the number of an event that resolves it at once, or null. */
  #open(runId: string, key: string, wait: EventWait, { isCancel }: { isCancel: boolean }): number | null {
    const since = this.#numberBefore(runId, wait)
    const match = this.#cursors.cover(wait, since)
    const { account, type, name, value } = wait
    this.#waits.insert.run({ runId, key, isCancel: isCancel ? 1 : 0, account, type, name, value, since, match })
    return match
  }

  /** The number of the last event that does not count for a wait. */
  #numberBefore(runId: string, { account, since }: EventWait): number {
    if (since === 'now') return this.#cursors.newest()
    if (since === 'run') return this.#runRows.newestAtStart.get(runId) ?? 0
    const newestAtChain = this.#runRows.newestAtChain.get(runId) ?? 0
    // An event that is pruned by now was older than all that are left.
    return Math.max(newestAtChain, ...since.after.flatMap((event) => this.#events.findSeqs(event, account)))
  }

  #invoke(parent: string, step: string, { endsBy = null, outlives = false, ...child }: Invocation): void {
    const { run } = child
    const newest = this.#cursors.newest()
    this.#runRows.insertChild.run({ ...child, parent, step, newest, endsBy, outlives: Number(outlives) })
    this.#waits.insertChild.run(parent, step, run)
  }

  #ask(runId: string, key: string, question: Question): void {
    const approval = this.#approvals.ask(runId, key, question)
    this.#approvalWaits.awaitAnswer(runId, key, approval)
  }
}

/** Index: primary key of wait, except where one is named. */
function prepareWaits(db: Database) {
  return {
    insert: db.prepare(
      `INSERT INTO wait (run_id, key, is_cancel, account, type, name, value, since_seq, event_seq, is_resolved)
       VALUES (@runId, @key, @isCancel, @account, @type, @name, @value, @since, @match, @match IS NOT NULL)
       ON CONFLICT (run_id, key) DO NOTHING`,
    ),
    insertChild: db.prepare(
      'INSERT INTO wait (run_id, key, child_run) VALUES (?, ?, ?) ON CONFLICT (run_id, key) DO NOTHING',
    ),
    awaitsPeople: db
      .prepare<[string], number>(`SELECT 1 FROM wait WHERE run_id = ? AND approval IS NOT NULL LIMIT 1`)
      .pluck(),
    delete: db.prepare('DELETE FROM wait WHERE run_id = ? AND key = ?'),
    deleteOthers: db.prepare('DELETE FROM wait WHERE run_id = ? AND approval IS NULL'),
    findEvent: db
      .prepare<[string, string], number | null>('SELECT event_seq FROM wait WHERE run_id = ? AND key = ?')
      .pluck(),
    findChild: db
      .prepare<[string, string], string | null>('SELECT child_run FROM wait WHERE run_id = ? AND key = ?')
      .pluck(),
    listEnded: db.prepare<[string], string>(`SELECT key FROM wait WHERE run_id = ? AND ${IS_OVER}`).pluck(),
    resolve: db.prepare('UPDATE wait SET is_resolved = 1, event_seq = ? WHERE run_id = ? AND key = ?'),
    // Index: primary key and wait_child.
    concernsRun: db
      .prepare<[string, string], number>(
        'SELECT EXISTS (SELECT 1 FROM wait WHERE run_id = ?) OR EXISTS (SELECT 1 FROM wait WHERE child_run = ?)',
      )
      .pluck(),
    // Index: wait_child.
    resolveParent: db
      .prepare<[string], string>(
        'UPDATE wait SET is_resolved = 1 WHERE child_run = ? AND is_resolved = 0 RETURNING run_id',
      )
      .pluck(),
    // Index: wait_open, and the primary key of run.
    findMatching: db.prepare<[string, string, string, string, number, number], FoundWait>(
      `SELECT run_id, key, is_cancel, run.workflow FROM wait JOIN run ON run.id = wait.run_id
       WHERE type = ? AND name = ? AND wait.account = ? AND value = ? AND wait.since_seq < ?
         AND is_resolved = 0 AND type IS NOT NULL
       LIMIT ?`,
    ),
  }
}

/** Index: primary keys of run and workflow, except where one is named. */
function prepareRuns(db: Database) {
  return {
    // The newest event when the run was made.
    newestAtStart: db
      .prepare<[string], number>('SELECT coalesce(since_seq, event_seq, 0) FROM run WHERE id = ?')
      .pluck(),
    // The same for the first run of its chain.
    newestAtChain: db
      .prepare<[string], number>('SELECT coalesce(chain_seq, since_seq, event_seq, 0) FROM run WHERE id = ?')
      .pluck(),
    insertChild: db.prepare(
      `INSERT INTO run (id, workflow, status, input, account, parent_run, parent_step, since_seq, created_at,
         outlives, ends_by, depth, priority)
       VALUES (@run, @workflow, 'pending', @input, @account, @parent, @step, @newest, @createdAt,
         @outlives, @endsBy, 1 + (SELECT depth FROM run WHERE id = @parent),
         coalesce((SELECT priority FROM workflow WHERE id = @workflow), 0))
       ON CONFLICT (id) DO NOTHING`,
    ),
    saveCodeHash: db.prepare('UPDATE run SET code_hash = ? WHERE id = ?'),
    // Index: run_invoked.
    listChildren: db
      .prepare<[string], string>(
        `SELECT id FROM run WHERE parent_run = ? AND outlives = 0 AND status IN ('pending', 'running', 'waiting')`,
      )
      .pluck(),
  }
}

function describeClose(parent: string, end: string): string {
  return `run ${parent}, which invoked it, ${end}`
}

function describeCancel(event: string, type: string): string {
  return `canceled by event ${event} (${type})`
}
