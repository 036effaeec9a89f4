import type { EventRecord } from '../../../core/incoming/event.ts'
import type { EventKey, MatchBatch, MatchResult } from '../../../core/runs/matching.ts'
import { type EventWait, type Invocation, LINK, type Question, type SavedWithStep } from '../../../core/runs/wait.ts'
import { JoinedTable } from '../../connection.ts'
import { QUEUE_RUN } from '../../rows/run-sql.ts'
import type { ReservedTable } from '../../tables/safety/reserved-table.ts'
import { IS_OVER } from '../approvals/approval-search.ts'
import type { ApprovalTable } from '../approvals/approval-table.ts'
import type { WithdrawalTable } from '../approvals/withdrawal-table.ts'
import type { Events } from '../incoming/events.ts'
import type { OwnEvents } from '../incoming/own-events.ts'
import { type Closing, type ClosingTable, describeClose } from '../runs/closing-table.ts'
import { MAX_CLOSED, type RunTable } from '../runs/run-table.ts'
import type { ScheduleTable } from '../schedules/schedule-table.ts'
import type { ApprovalWaits } from './approval-waits.ts'
import type { HookTable } from './hook-table.ts'
import type { MatchCursorTable } from './match-cursor-table.ts'

interface FoundWait {
  runId: string
  key: string
  isCancel: number
  workflow: string
}

/**
 * Waits that one transaction resolves and runs that it cancels, at most. The next one goes on with
 * the same event.
 */
const MAX_RESOLVED = 2_000

interface WaitTables {
  runs: RunTable
  events: Events
  cursors: MatchCursorTable
  approvals: ApprovalTable
  approvalWaits: ApprovalWaits
  reserved: ReservedTable
  withdrawals: WithdrawalTable
  closings: ClosingTable
  ownEvents: OwnEvents
  schedules: ScheduleTable
  hooks: HookTable
}

/** The waits of runs: for events, for the runs that they invoked, and for people. */
export class WaitTable extends JoinedTable<WaitTables> {
  /** Index: primary key of wait, except where one is named. */
  readonly #waits = {
    insert: this.db.prepare(
      `INSERT INTO wait (run_id, key, is_cancel, account, stream, type, name, value, since_seq, event_seq, is_resolved)
       VALUES (@runId, @key, @isCancel, @account, @stream, @type, @name, @value, @since, @match, @isResolved)
       ON CONFLICT (run_id, key) DO NOTHING`,
    ),
    insertAtHook: this.db.prepare(
      `INSERT INTO wait (run_id, key, hook, event_seq, is_resolved) VALUES (@runId, @key, @hook, @match, @isResolved)
       ON CONFLICT (run_id, key) DO NOTHING`,
    ),
    insertChild: this.db.prepare(
      'INSERT INTO wait (run_id, key, child_run) VALUES (?, ?, ?) ON CONFLICT (run_id, key) DO NOTHING',
    ),
    delete: this.db.prepare('DELETE FROM wait WHERE run_id = ? AND key = ?'),
    deleteOthers: this.db.prepare('DELETE FROM wait WHERE run_id = ? AND approval IS NULL'),
    findEvent: this.db.pluck<[string, string], number | null>(
      'SELECT event_seq FROM wait WHERE run_id = ? AND key = ?',
    ),
    findWatched: this.db.pluck<[string], number>(`SELECT since_seq FROM wait WHERE run_id = ? AND key = '#watched'`),
    // An earlier event of the batch may have resolved it.
    resolve: this.db.prepare(
      'UPDATE wait SET is_resolved = 1, event_seq = ? WHERE run_id = ? AND key = ? AND is_resolved = 0',
    ),
    // Index: wait_child.
    resolveParent: this.db.pluck<[string], string>(
      'UPDATE wait SET is_resolved = 1 WHERE child_run = ? AND is_resolved = 0 RETURNING run_id',
    ),
    // Index: wait_open, and the primary key of work.
    findMatching: this.db.prepare<[string, string, number, string, string, number, number], FoundWait>(
      `SELECT run_id, key, is_cancel, (SELECT workflow FROM work WHERE work.run_id = wait.run_id) AS workflow FROM wait
       WHERE type = ? AND name = ? AND stream = ? AND account = ? AND value = ? AND since_seq < ?
         AND is_resolved = 0 AND type IS NOT NULL
       LIMIT ?`,
    ),
  }
  /** Index: primary keys of run and workflow, except where one is named. */
  readonly #runRows = {
    // The newest event when the run was made.
    newestAtStart: this.db.pluck<[string], number>('SELECT coalesce(since_seq, event_seq, 0) FROM run WHERE id = ?'),
    insertChild: this.db.prepare(
      `INSERT INTO run (id, workflow, input, account, parent_run, parent_step, since_seq, created_at, outlives, ends_by,
         depth)
       VALUES (@run, @workflow, @input, @account, @parent, @step, ${this.db.sql.newestEvent('@account')}, @createdAt,
         @outlives, @endsBy, ${LINK} + (SELECT depth FROM run WHERE id = @parent))
       ON CONFLICT (id) DO NOTHING`,
    ),
    queue: this.db.prepare<[string]>(QUEUE_RUN),
    // The same for the first run of its chain.
    newestAtChain: this.db.pluck<[string], number>(
      'SELECT coalesce(chain_seq, since_seq, event_seq, 0) FROM run WHERE id = ?',
    ),
  }

  /** Saves the rest of a step's commit, after its checkpoint. */
  async saveWithStep(runId: string, key: string, saved: SavedWithStep): Promise<void> {
    const { codeHash, wait, invoke, send, hook, approve, expire, isSettled, cancel, schedule, unschedule } = saved
    if (codeHash !== undefined) await this.saveCodeHash(runId, codeHash)
    if (isSettled) await this.#waits.delete.run(runId, key)
    if (wait) await this.#open(runId, key, wait, { isCancel: false })
    if (invoke) await this.#invoke(runId, key, invoke)
    if (send) await this.parts.ownEvents.send(send)
    if (schedule) await this.parts.schedules.upsert(schedule, schedule.madeAt)
    if (unschedule !== undefined) await this.parts.schedules.removeOfCode(unschedule)
    if (hook) await this.parts.hooks.open(runId, key, hook)
    if (approve) await this.#ask(runId, key, approve)
    if (expire) await this.parts.approvals.expire(expire.approval, expire.now)
    if (cancel) await this.cancel(cancel.run, cancel.reason, cancel.now)
  }

  readonly saveCodeHash = this.write(
    'UPDATE work SET code_hash = ? WHERE run_id = ?',
    (runId: string, codeHash: string) => [codeHash, runId],
  )

  /**
   * Notes for a successor how far events were matched with `cancelOn` of its predecessor. No step
   * has such a key. Null values are passed over.
   */
  readonly noteWatched = this.write(
    `INSERT INTO wait (run_id, key, since_seq, is_resolved)
     SELECT CAST(? AS text), '#watched', seq, 1 FROM (
       SELECT min(${this.db.sql.greatest}(since_seq, (SELECT max(position_seq) FROM match_cursor AS cursor
         WHERE cursor.type = wait.type AND cursor.name = wait.name AND cursor.stream = wait.stream))) AS seq
       FROM wait WHERE run_id = ? AND is_cancel = 1) AS watched
     WHERE seq IS NOT NULL`,
    (runId: string, successor: string) => [successor, runId],
  )

  /** Registers the events that cancel a run; false when one came already and canceled it. */
  async watchRun(runId: string, cancels: readonly EventWait[], now: number): Promise<boolean> {
    for (const [index, wait] of cancels.entries()) {
      // No step has such a key.
      const key = `#cancel${index}`
      if ((await this.#waits.findEvent.get(runId, key)) !== undefined) continue
      const match = await this.#open(runId, key, wait, { isCancel: true })
      if (match === null) continue
      const { id, type } = await this.parts.events.get(match)
      await this.cancel(runId, describeCancel(id, type), now, true)
      return false
    }
    return true
  }

  /** The event that resolved a step's wait; null: none so far. */
  async findMatch(runId: string, key: string): Promise<EventRecord | null> {
    const seq = await this.#waits.findEvent.get(runId, key)
    return typeof seq === 'number' ? await this.parts.events.get(seq) : null
  }

  /** Keys of the steps whose wait an event, another run or people have ended. */
  readonly listEndedWaits = this.readValues<[runId: string], string>(
    `SELECT key FROM wait WHERE run_id = ? AND ${IS_OVER}`,
  )

  readonly #awaitsPeople = this.hasRow<[runId: string]>(
    'SELECT 1 FROM wait WHERE run_id = ? AND approval IS NOT NULL LIMIT 1',
  )
  /** Index: primary key and wait_child. */
  readonly #hasWaits = this.hasRow<[{ runId: string }]>(
    `SELECT 1 WHERE EXISTS (SELECT 1 FROM wait WHERE run_id = @runId)
       OR EXISTS (SELECT 1 FROM wait WHERE child_run = @runId)`,
  )

  /** Deletes the waits of an ended run and wakes the run that invoked it. Returns true. */
  async runEnded(runId: string, now: number): Promise<true> {
    // Most runs have no waits: this check is cheaper than two statements that change no row.
    if (!(await this.#hasWaits({ runId }))) return true
    if (await this.#awaitsPeople(runId)) await this.parts.withdrawals.begin(runId, now)
    await this.parts.reserved.releaseRun(runId)
    await this.#waits.deleteOthers.run(runId)
    for (const parent of await this.#waits.resolveParent.all(runId)) await this.parts.runs.wake(parent)
    return true
  }

  /** Cancels what a failed run has invoked and may not outlive it. */
  async closeChildren(runId: string, now: number): Promise<void> {
    await this.#cancelBelow([{ runId, reason: describeClose(runId, 'failed'), after: '' }], now)
  }

  /**
   * Cancels a run and what it invoked and may not outlive it, at any depth. Returns those that were
   * unfinished; {@link closeMore} cancels the rest of many. `byRule`: by a rule of its workflow.
   */
  async cancel(runId: string, reason: string, now: number, byRule = false): Promise<string[]> {
    await this.parts.runs.lockTrees([runId])
    if (!(await this.#cancelOne(runId, { reason, byRule }, now))) return []
    return [runId, ...(await this.#cancelBelow([describeCanceled(runId)], now))]
  }

  /** Goes on with the children of a run; false where none is left. */
  async closeMore(now: number): Promise<boolean> {
    const next = await this.parts.closings.take()
    await this.parts.runs.lockTrees(next ? [next.runId] : [])
    if (next) await this.#cancelBelow([next], now)
    return next !== null
  }

  async #cancelBelow(parents: Closing[], now: number): Promise<string[]> {
    const canceled: string[] = []
    for (let parent = parents.pop(); parent; parent = parents.pop()) {
      const { reason } = parent
      const room = MAX_CLOSED - canceled.length
      const children = await this.parts.closings.listChildren({ ...parent, limit: room + 1 })
      for (const child of children.slice(0, room)) {
        if (!(await this.#cancelOne(child, { reason, byRule: false }, now))) continue
        canceled.push(child)
        parents.push(describeCanceled(child))
      }
      const after = children[room - 1] ?? parent.after
      if (children.length > room) await this.parts.closings.save({ ...parent, after })
    }
    return canceled
  }

  async #cancelOne(runId: string, why: { reason: string; byRule: boolean }, now: number): Promise<boolean> {
    const isUnfinished = await this.parts.runs.endAny(runId, { status: 'canceled', isTaken: true, ...why }, now)
    return isUnfinished && (await this.runEnded(runId, now))
  }

  /** Saves the keys of a batch, wakes and cancels the runs for them, and advances the cursors. */
  async saveMatches(batch: MatchBatch, now: number): Promise<MatchResult> {
    const unmoved = await this.parts.cursors.listUnmoved(batch)
    const result: MatchResult = { resolved: 0, canceled: [] }
    let left = MAX_RESOLVED
    let to = batch.to
    for (const { key, found } of await this.#findMatches(batch, unmoved)) {
      if (key.seq > to) continue
      await this.parts.cursors.addKey(key)
      left -= await this.#resolveWaits(found, key, { limit: left, now, result })
      // The next batch begins with this event again and resolves the remaining waits.
      if (left <= 0) to = key.seq - 1
    }
    for (const id of unmoved) await this.parts.cursors.move(id, { from: batch.from, to, now })
    return result
  }

  /** Finds the waits for all keys, and locks their runs in one order before any is woken. */
  async #findMatches({ cursors, keys }: MatchBatch, unmoved: ReadonlySet<number>) {
    const byId = new Map(cursors.map((cursor) => [cursor.id, cursor]))
    const matches: { key: EventKey; found: FoundWait[] }[] = []
    let room = MAX_RESOLVED
    for (const key of keys) {
      const cursor = byId.get(key.cursor)
      if (!cursor || !unmoved.has(cursor.id) || room === 0) continue
      const { account, value, seq } = key
      const stream = this.parts.events.streamOf(account)
      const { type, name } = cursor
      const found = await this.#waits.findMatching.all(type, name, stream, account, value, seq, room)
      matches.push({ key, found })
      room -= found.length
    }
    const waits = matches.flatMap(({ found }) => found)
    const runs = waits.map(({ runId }) => runId)
    if (waits.some(({ isCancel }) => isCancel === 1)) await this.parts.runs.lockTrees(runs)
    else await this.parts.runs.lockAll(runs)
    return matches
  }

  /** Resolves the waits for an event; returns how many, with all runs that it canceled. */
  async #resolveWaits(
    found: readonly FoundWait[],
    { seq, event }: EventKey,
    { limit, now, result }: { limit: number; now: number; result: MatchResult },
  ): Promise<number> {
    let done = 0
    for (const wait of found) {
      if (done >= limit) break
      done += 1
      if (wait.isCancel === 1) {
        const reason = describeCancel(event, (await this.parts.events.get(seq)).type)
        const canceled = await this.cancel(wait.runId, reason, now, true)
        done += canceled.length
        for (const run of canceled) result.canceled.push({ run, workflow: wait.workflow, reason })
      } else {
        await this.#waits.resolve.run(seq, wait.runId, wait.key)
        await this.parts.runs.wake(wait.runId)
        // Also where the run is pending by then: a claim may have skipped its locked row.
        result.resolved += 1
      }
    }
    return done
  }

  /** Saves a wait; returns the number of an event that resolves it at once, or null. */
  async #open(
    runId: string,
    key: string,
    wait: EventWait,
    { isCancel }: { isCancel: boolean },
  ): Promise<number | null> {
    const stream = this.parts.events.streamOf(wait.account)
    const watched = isCancel ? await this.#waits.findWatched.get(runId) : undefined
    const since = watched ?? (await this.#numberBefore(runId, wait))
    if (wait.hook !== undefined) return this.#openAtHook(runId, key, wait.hook, since)
    const match = await this.parts.cursors.cover(wait, since)
    const { account, type, name, value } = wait
    await this.#waits.insert.run({
      runId,
      key,
      isCancel,
      account,
      stream,
      type,
      name,
      value,
      since,
      match,
      isResolved: match !== null,
    })
    return match
  }

  /** No cursor tells of an answer: its own commit does. */
  async #openAtHook(runId: string, key: string, hook: string, since: number): Promise<number | null> {
    const match = await this.parts.hooks.findAnswer(hook, since)
    await this.#waits.insertAtHook.run({ runId, key, hook, match, isResolved: match !== null })
    return match
  }

  /** The number of the last event that does not count for a wait. */
  async #numberBefore(runId: string, { account, since, hook }: EventWait): Promise<number> {
    if (since === 'now') return (await this.parts.events.newest()).get(this.parts.events.streamOf(account)) ?? 0
    if (since === 'run') return hook !== undefined ? 0 : ((await this.#runRows.newestAtStart.get(runId)) ?? 0)
    // A hook may be older than a run that has it, which is a fork then.
    const newestAtChain = hook === undefined ? ((await this.#runRows.newestAtChain.get(runId)) ?? 0) : 0
    // An event that is pruned by now was older than all that are left.
    const seqs = await Array.fromAsync(since.after, (event) => this.parts.events.findSeqs(event, account))
    return Math.max(newestAtChain, ...seqs.flat())
  }

  async #invoke(
    parent: string,
    step: string,
    { endsBy = null, outlives = false, ...child }: Invocation,
  ): Promise<void> {
    const { run } = child
    const made = await this.#runRows.insertChild.run({ ...child, parent, step, endsBy, outlives: Number(outlives) })
    if (made.changes === 1) await this.#runRows.queue.run(run)
    await this.#waits.insertChild.run(parent, step, run)
  }

  async #ask(runId: string, key: string, question: Question): Promise<void> {
    const approval = await this.parts.approvals.ask(runId, key, question)
    await this.parts.approvalWaits.awaitAnswer(runId, key, approval)
  }
}

function describeCanceled(runId: string): Closing {
  return { runId, reason: describeClose(runId, 'was canceled'), after: '' }
}

function describeCancel(event: string, type: string): string {
  return `canceled by event ${event} (${type})`
}
