import type { Database } from 'better-sqlite3'
import { newId } from '../../../core/ids.ts'
import type { EventRecord } from '../../../core/incoming/event.ts'
import type { EventKey, MatchBatch, MatchResult } from '../../../core/runs/matching.ts'
import type { EventWait, Invocation, SavedWithStep, SentEvent } from '../../../core/runs/wait.ts'
import type { EventTable } from '../incoming/event-table.ts'
import type { RunTable } from '../runs/run-table.ts'
import type { MatchCursorTable } from './match-cursor-table.ts'

interface FoundWait {
  run_id: string
  key: string
  is_cancel: number
  workflow: string
}

/** Waits that one transaction resolves at most: an event that thousands wait for takes several. */
const MAX_RESOLVED = 2_000

/** What runs wait for, and what sets them going again: events, and the runs they invoked. */
export class WaitTable {
  readonly #runs: RunTable
  readonly #events: EventTable
  readonly #cursors: MatchCursorTable
  readonly #mark
  readonly #insertWait
  readonly #insertChildWait
  readonly #insertChild
  readonly #insertRun
  readonly #keepHash
  readonly #settle
  readonly #isConcerned
  readonly #settleAll
  readonly #find
  readonly #resolve
  readonly #resolveParent
  readonly #wake
  readonly #match
  readonly #children

  constructor(
    db: Database,
    { runs, events, cursors }: { runs: RunTable; events: EventTable; cursors: MatchCursorTable },
  ) {
    this.#runs = runs
    this.#events = events
    this.#cursors = cursors
    // Indexes: primary keys of run, wait and workflow.
    this.#mark = db.prepare<[string], number>('SELECT coalesce(since_seq, event_seq, 0) FROM run WHERE id = ?').pluck()
    this.#insertWait = db.prepare(
      `INSERT INTO wait (run_id, key, is_cancel, account, type, name, value, since_seq, event_seq, resolved)
       VALUES (@runId, @key, @isCancel, @account, @type, @name, @value, @since, @hit, @hit IS NOT NULL)
       ON CONFLICT (run_id, key) DO NOTHING`,
    )
    this.#insertChildWait = db.prepare(
      'INSERT INTO wait (run_id, key, child_run) VALUES (?, ?, ?) ON CONFLICT (run_id, key) DO NOTHING',
    )
    this.#insertChild = db.prepare(
      `INSERT INTO run (id, workflow, status, input, account, parent_run, parent_step, since_seq, created_at, priority)
       VALUES (?, ?, 'pending', ?, ?, ?, ?, ?, ?, coalesce((SELECT priority FROM workflow WHERE id = ?), 0)) ON CONFLICT (id) DO NOTHING`,
    )
    this.#insertRun = db.prepare(
      `INSERT INTO run (id, workflow, status, event_seq, created_at, priority)
       VALUES (?, ?, 'pending', ?, ?, coalesce((SELECT priority FROM workflow WHERE id = ?), 0))`,
    )
    this.#keepHash = db.prepare('UPDATE run SET code_hash = ? WHERE id = ?')
    this.#settle = db.prepare('DELETE FROM wait WHERE run_id = ? AND key = ?')
    // Indexes: primary key and wait_child. Most runs wait for nothing, and this costs less than to
    // change no row twice.
    this.#isConcerned = db
      .prepare<[string, string], number>(
        'SELECT EXISTS (SELECT 1 FROM wait WHERE run_id = ?) OR EXISTS (SELECT 1 FROM wait WHERE child_run = ?)',
      )
      .pluck()
    this.#settleAll = db.prepare('DELETE FROM wait WHERE run_id = ?')
    this.#find = db
      .prepare<[string, string], number | null>('SELECT event_seq FROM wait WHERE run_id = ? AND key = ?')
      .pluck()
    this.#resolve = db.prepare('UPDATE wait SET resolved = 1, event_seq = ? WHERE run_id = ? AND key = ?')
    // Index: wait_child.
    this.#resolveParent = db
      .prepare<[string], string>('UPDATE wait SET resolved = 1 WHERE child_run = ? AND resolved = 0 RETURNING run_id')
      .pluck()
    // Index: primary key. Only a run that is parked for this: one that waits for a person is left
    // alone.
    this.#wake = db.prepare(
      `UPDATE run SET status = 'pending', due_at = NULL, reason = NULL, awaits = 0
       WHERE id = ? AND status = 'waiting' AND awaits = 1`,
    )
    // Index: wait_open, and the primary key of run.
    this.#match = db.prepare<[string, string, string, string, number, number], FoundWait>(
      `SELECT run_id, key, is_cancel, run.workflow FROM wait JOIN run ON run.id = wait.run_id
       WHERE type = ? AND name = ? AND wait.account = ? AND value = ? AND wait.since_seq < ? AND resolved = 0 AND type IS NOT NULL
       LIMIT ?`,
    )
    // Index: run_invoked.
    this.#children = db.prepare<[string], string>('SELECT id FROM run WHERE parent_run = ?').pluck()
  }

  /** What comes with a step's checkpoint, after its row. */
  saveAlongside(runId: string, key: string, alongside: SavedWithStep): void {
    const { codeHash, wait, invoke, send, isSettled, cancel } = alongside
    if (codeHash !== undefined) this.#keepHash.run(codeHash, runId)
    if (isSettled) this.#settle.run(runId, key)
    if (wait) this.#open(runId, key, wait, { isCancel: false })
    if (invoke) this.#invoke(runId, key, invoke)
    if (send) this.#send(send)
    if (cancel) this.cancel(cancel.run, cancel.reason, cancel.now)
  }

  /** False when an event that cancels the run is known already; then it is canceled. */
  watchRun(runId: string, cancels: readonly EventWait[], now: number): boolean {
    for (const [index, wait] of cancels.entries()) {
      // No step has such a key.
      const key = `#cancel${index}`
      if (this.#find.get(runId, key) !== undefined) continue
      const hit = this.#open(runId, key, wait, { isCancel: true })
      if (hit === null) continue
      const { id, type } = this.#events.get(hit)
      this.cancel(runId, describeCancel(id, type), now)
      return false
    }
    return true
  }

  /** The event that a step waited for. */
  findMatch(runId: string, key: string): EventRecord | null {
    const seq = this.#find.get(runId, key)
    return typeof seq === 'number' ? this.#events.get(seq) : null
  }

  /**
   * Nobody waits in a run that has ended, and who waited for its end goes on. Gives true, for its
   * callers' sake.
   */
  runEnded(runId: string): true {
    if (this.#isConcerned.get(runId, runId) === 0) return true
    this.#settleAll.run(runId)
    for (const parent of this.#resolveParent.all(runId)) this.#wake.run(parent)
    return true
  }

  /** Ends a run with all that it invoked; gives those that had not ended yet. */
  cancel(runId: string, reason: string, now: number): string[] {
    if (!this.#runs.cancel(runId, reason, now)) return []
    this.runEnded(runId)
    const because = `run ${runId}, which invoked it, was canceled`
    return [runId, ...this.#children.all(runId).flatMap((child) => this.cancel(child, because, now))]
  }

  saveMatches(batch: MatchBatch, now: number): MatchResult {
    const standing = this.#cursors.standing(batch)
    const cursors = new Map(batch.cursors.map((watch) => [watch.id, watch]))
    const result: MatchResult = { woken: 0, canceled: [] }
    let left = MAX_RESOLVED
    let to = batch.to
    for (const key of batch.keys) {
      const watch = cursors.get(key.cursor)
      if (!watch || !standing.has(key.cursor) || key.seq > to) continue
      this.#cursors.addKey(key)
      left -= this.#resolveWaits(watch, key, { limit: left, now, result })
      // The next batch begins with this event again, for those that are left.
      if (left <= 0) to = key.seq - 1
    }
    for (const id of standing) this.#cursors.move(id, { from: batch.from, to, now })
    return result
  }

  #resolveWaits(
    { type, name }: { type: string; name: string },
    { account, value, seq, event }: EventKey,
    { limit, now, result }: { limit: number; now: number; result: MatchResult },
  ): number {
    const found = this.#match.all(type, name, account, value, seq, limit)
    for (const wait of found) {
      if (wait.is_cancel === 1) {
        const reason = describeCancel(event, this.#events.get(seq).type)
        const canceled = this.cancel(wait.run_id, reason, now)
        result.canceled.push(...canceled.map((run) => ({ run, workflow: wait.workflow, reason })))
      } else {
        this.#resolve.run(seq, wait.run_id, wait.key)
        result.woken += this.#wake.run(wait.run_id).changes
      }
    }
    return found.length
  }

  /** The number of an event that resolves the wait at once, or null. */
  #open(runId: string, key: string, wait: EventWait, { isCancel }: { isCancel: boolean }): number | null {
    const since = wait.since === 'now' ? this.#cursors.newest() : (this.#mark.get(runId) ?? 0)
    const hit = this.#cursors.cover(wait, since)
    const { account, type, name, value } = wait
    this.#insertWait.run({ runId, key, isCancel: isCancel ? 1 : 0, account, type, name, value, since, hit })
    return hit
  }

  #invoke(parent: string, step: string, { run, workflow, account, input, createdAt }: Invocation): void {
    this.#insertChild.run(run, workflow, input, account, parent, step, this.#cursors.newest(), createdAt, workflow)
    this.#insertChildWait.run(parent, step, run)
  }

  #send({ id, type, account, createdAt, body, workflows }: SentEvent): void {
    const event = { id, type, created: new Date(createdAt).toISOString() }
    const saved = this.#events.save({ event, account, receivedAt: createdAt, body }, 'send')
    if (saved.kind === 'known') return
    for (const workflow of workflows) {
      this.#insertRun.run(newId('run', createdAt), workflow, saved.seq, createdAt, workflow)
    }
  }
}

function describeCancel(event: string, type: string): string {
  return `canceled by event ${event} (${type})`
}
