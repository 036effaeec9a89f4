import type { Database } from 'better-sqlite3'
import type { Failure } from '../../../core/errors.ts'
import { firstId, newId } from '../../../core/ids.ts'
import type { EventRecord } from '../../../core/incoming/event.ts'
import { UNADMITTED_PRIORITY } from '../../../core/runs/admission.ts'
import type { ClaimedRun, RunCause } from '../../../core/runs/claim.ts'
import { FIRST_FENCE, type Lease } from '../../../core/runs/lease.ts'
import type { Run, RunFilter, RunHandler, RunOrigin, RunStatus } from '../../../core/runs/run.ts'
import type { Store } from '../../../core/store/store.ts'
import type { EventTable } from '../incoming/event-table.ts'
import type { TickTable } from './tick-table.ts'
import type { WorkflowTable } from './workflow-table.ts'

interface RunRow {
  id: string
  workflow: string
  status: RunStatus
  reason: string | null
  event_id: string | null
  tick_at: number | null
  parent_run: string | null
  parent_step: string | null
  attempt: number
  created_at: number
  started_at: number | null
  finished_at: number | null
  due_at: number | null
  awaits: number
  turn: string | null
  folded_into: string | null
  folded: number | null
  output: string | null
  apart_bytes: number | null
  error: string | null
  origin: RunOrigin
  origin_run: string | null
  handler: RunHandler
}

interface ClaimRow {
  id: string
  workflow: string
  event_seq: number | null
  tick_at: number | null
  input: string | null
  account: string | null
  code_hash: string | null
  fence: number
  attempt: number
  created_at: number
  started_at: number | null
  turn: string | null
  folded: number | null
  handler: RunHandler
  origin_run: string | null
  failure: string | null
}

/**
 * Runs of paused workflows that one claim sets aside at most, lest its commit takes long; the next
 * claim goes on.
 */
const MAX_HELD = 500

/** Holds for the one worker that has the run: everything it writes says so. */
const HELD = `id = @runId AND fence = @fence AND status = 'running'`
/**
 * The same without names, which cost half as much again: for what every step and every run writes.
 */
export const HELD_BY_POSITION = `id = ? AND fence = ? AND status = 'running'`

const SELECT_RUN = `SELECT run.id, workflow, status, reason, event.id AS event_id, tick_at, parent_run, parent_step, attempt,
  run.created_at, started_at, finished_at, due_at, awaits, turn, folded_into, folded, output, apart_bytes, error, run.origin, origin_run, handler
  FROM run LEFT JOIN event ON event.seq = run.event_seq`

/** The queue: runs from pending to finished. */
export class RunTable {
  readonly #db: Database
  readonly #events: EventTable
  readonly #ticks: TickTable
  readonly #workflows: WorkflowTable
  readonly #dueWaiting
  readonly #ready
  readonly #unseen
  readonly #listEvents
  readonly #claim
  readonly #complete
  readonly #fail
  readonly #skip
  readonly #park
  readonly #parkAwaiting
  readonly #retry
  readonly #release
  readonly #cancel
  readonly #held
  readonly #find
  readonly #nextDue
  readonly #follow
  readonly #leases

  constructor(db: Database, events: EventTable, ticks: TickTable, workflows: WorkflowTable) {
    this.#db = db
    this.#events = events
    this.#ticks = ticks
    this.#workflows = workflows
    // Index: run_waiting.
    this.#dueWaiting = db
      .prepare<[number, number], string>(
        `SELECT id FROM run WHERE status = 'waiting' AND due_at IS NOT NULL AND due_at <= ? ORDER BY due_at LIMIT ?`,
      )
      .pluck()
    // Index: run_ready, in its own order.
    this.#ready = db
      .prepare<[number], string>(`SELECT id FROM run WHERE status = 'pending' ORDER BY priority DESC, id LIMIT ?`)
      .pluck()
    // Index: run_ready, its first rows.
    this.#unseen = db
      .prepare<[number], string>(
        `SELECT id FROM run WHERE status = 'pending' AND priority >= ${UNADMITTED_PRIORITY} ORDER BY priority DESC, id LIMIT ?`,
      )
      .pluck()
    // Index: primary key, then run_folded step by step. A fork, and what follows a failure, has the
    // events of its origin.
    this.#listEvents = db
      .prepare<[string], number>(
        `WITH RECURSIVE one (id) AS (VALUES (?)
           UNION SELECT run.id FROM one JOIN run ON run.folded_into = one.id
           UNION SELECT origin_run FROM one JOIN run ON run.id = one.id WHERE origin IN ('fork', 'failure'))
         SELECT event_seq FROM one JOIN run ON run.id = one.id WHERE event_seq IS NOT NULL`,
      )
      .pluck()
    // All below find their row by the primary key. A limited run starts when it is admitted, not
    // when it is claimed.
    this.#claim = db.prepare<[string, number, string], ClaimRow>(
      `UPDATE run SET status = 'running', worker = ?, fence = fence + 1, due_at = NULL, reason = NULL, awaits = 0,
         started_at = CASE WHEN turn IN ('waits', 'out') THEN started_at ELSE coalesce(started_at, ?) END,
         turn = CASE turn WHEN 'waits' THEN 'out' ELSE turn END
       WHERE id = ? RETURNING id, workflow, event_seq, tick_at, input, account, code_hash, fence, attempt, created_at,
         started_at, handler, origin_run, failure, turn, folded`,
    )
    this.#follow = db.prepare(
      `INSERT INTO run (id, workflow, status, event_seq, tick_at, input, account, since_seq, priority, created_at, origin, origin_run,
         handler, failure, folded)
       SELECT ?, workflow, 'pending', event_seq, tick_at, input, account, (SELECT coalesce(max(seq), 0) FROM event), priority, ?, 'failure', id, 'onFailure', error, folded FROM run
       WHERE id = ? AND handler = 'run'`,
    )
    const end = (status: RunStatus, column: string) =>
      db.prepare(
        `UPDATE run SET status = '${status}', ${column} = ?, worker = NULL, finished_at = ? WHERE ${HELD_BY_POSITION}`,
      )
    this.#complete = end('completed', 'output')
    this.#fail = end('failed', 'error')
    this.#skip = end('skipped', 'reason')
    this.#park = db.prepare(
      `UPDATE run SET status = 'waiting', due_at = @dueAt, reason = @reason, worker = NULL,
         started_at = iif(@hasNotStarted, NULL, started_at) WHERE ${HELD}`,
    )
    // Index: primary keys of run and wait, too.
    this.#parkAwaiting = db.prepare(
      `UPDATE run SET worker = NULL, (status, due_at, reason, awaits) = (
         SELECT CASE WHEN isOver THEN 'pending' ELSE 'waiting' END, CASE WHEN isOver THEN NULL ELSE @dueAt END,
           CASE WHEN isOver THEN NULL ELSE @reason END, NOT isOver
         FROM (SELECT EXISTS (SELECT 1 FROM json_each(@awaits) AS awaited
           JOIN wait ON wait.run_id = @runId AND wait.key = awaited.value WHERE wait.resolved = 1) AS isOver))
       WHERE ${HELD}`,
    )
    this.#retry = db.prepare(
      `UPDATE run SET status = 'waiting', due_at = @dueAt, reason = 'next attempt', error = @error, attempt = attempt + 1,
         worker = NULL WHERE ${HELD}`,
    )
    this.#release = db.prepare(`UPDATE run SET status = 'pending', worker = NULL WHERE ${HELD}`)
    this.#cancel = db.prepare(
      `UPDATE run SET status = 'canceled', reason = ?, fence = fence + 1, worker = NULL, due_at = NULL, finished_at = ?
       WHERE id = ? AND status IN ('pending', 'running', 'waiting')`,
    )
    this.#held = db.prepare<[Lease], { id: string }>(`SELECT id FROM run WHERE ${HELD}`)
    this.#find = db.prepare<[string], RunRow>(`${SELECT_RUN} WHERE run.id = ?`)
    // Index: run_waiting.
    this.#nextDue = db
      .prepare<[], number | null>(`SELECT min(due_at) FROM run WHERE status = 'waiting' AND due_at IS NOT NULL`)
      .pluck()
    // Index: run_held.
    this.#leases = db.prepare<[string], { runId: string; fence: number }>(
      `SELECT id AS runId, fence FROM run WHERE worker = ? AND status = 'running'`,
    )
  }

  claim(worker: string, limit: number, now: number): ClaimedRun[] {
    return this.#claimAll(() => this.#claimable(limit, now), worker, now)
  }

  claimUnseen(worker: string, limit: number, now: number): ClaimedRun[] {
    return this.#claimAll(() => this.#unseen.all(limit), worker, now)
  }

  #claimable(limit: number, now: number): string[] {
    const waited = this.#dueWaiting.all(now, limit)
    return waited.length < limit ? [...waited, ...this.#ready.all(limit - waited.length)] : waited
  }

  /**
   * Sets runs of paused workflows aside until none stands at the head of the queue, or so many that
   * the others may go first.
   */
  #holdPaused(claimable: () => string[]): void {
    const paused = this.#workflows.paused()
    if (paused.size === 0) return
    for (let held = 0; held < MAX_HELD; ) {
      const ids = claimable().filter((id) => paused.has(this.#find.get(id)?.workflow ?? ''))
      if (ids.length === 0) return
      held += ids.filter((id) => this.#workflows.hold(id)).length
    }
  }

  /** Each of these is false when the lease is stale. */
  complete(lease: Lease, output: string | null, now: number): boolean {
    return this.#complete.run(output, now, lease.runId, lease.fence).changes === 1
  }

  fail(lease: Lease, error: Failure, now: number, followUp = false): boolean {
    if (this.#fail.run(JSON.stringify(error), now, lease.runId, lease.fence).changes === 0) return false
    if (followUp) this.#follow.run(newId('run', now), now, lease.runId)
    return true
  }

  skip(lease: Lease, reason: string, now: number): boolean {
    return this.#skip.run(reason, now, lease.runId, lease.fence).changes === 1
  }

  /** What the run awaits may have come while its pass went on: then it is pending at once. */
  park(lease: Lease, { dueAt, reason, awaits = [], hasNotStarted = false }: Parameters<Store['parkRun']>[1]): boolean {
    if (awaits.length > 0) {
      return this.#parkAwaiting.run({ ...lease, dueAt, reason, awaits: JSON.stringify(awaits) }).changes === 1
    }
    return this.#park.run({ ...lease, dueAt, reason, hasNotStarted: Number(hasNotStarted) }).changes === 1
  }

  retry(lease: Lease, { dueAt, error }: { dueAt: number; error: Failure }): boolean {
    return this.#retry.run({ ...lease, dueAt, error: JSON.stringify(error) }).changes === 1
  }

  isHeld(lease: Lease): boolean {
    return this.#held.get(lease) !== undefined
  }

  release(lease: Lease): boolean {
    return this.#release.run(lease).changes === 1
  }

  cancel(runId: string, reason: string, now: number): boolean {
    return this.#cancel.run(reason, now, runId).changes === 1
  }

  leases(worker: string): { runId: string; fence: number }[] {
    return this.#leases.all(worker)
  }

  nextDueAt(): number | null {
    return this.#nextDue.get() ?? null
  }

  find(id: string): Run | null {
    const row = this.#find.get(id)
    return row ? readRun(row) : null
  }

  listEvents(id: string): EventRecord[] {
    const seqs = new Set(this.#listEvents.all(id).sort((a, b) => a - b))
    return [...seqs].map((seq) => this.#events.get(seq))
  }

  list({ limit, ...filter }: RunFilter & { limit: number }): Run[] {
    const { where, values } = this.#where(filter)
    // Newest first by primary key, whose bounds are those of time; a filter by event goes through
    // run_caused, by origin through run_origin.
    const rows = this.#db.prepare<unknown[], RunRow>(`${SELECT_RUN} ${where} ORDER BY run.id DESC LIMIT ?`)
    return rows.all(...values, limit).map(readRun)
  }

  #where({ status, workflow, eventId, account, origin, originRun, parentRun, since, until, before }: RunFilter): {
    where: string
    values: unknown[]
  } {
    const conditions: [string, unknown][] = []
    if (status !== undefined) conditions.push(['status = ?', status])
    if (workflow !== undefined) conditions.push(['workflow = ?', workflow])
    if (parentRun !== undefined) conditions.push(['parent_run = ?', parentRun])
    if (eventId !== undefined) {
      const seqs = JSON.stringify(this.#events.findSeqs(eventId, account))
      conditions.push(['event_seq IN (SELECT value FROM json_each(?))', seqs])
    }
    if (origin !== undefined) conditions.push(['run.origin = ?', origin])
    if (originRun !== undefined) conditions.push(['origin_run = ?', originRun])
    if (since !== undefined) conditions.push(['run.id >= ?', firstId('run', since)])
    if (until !== undefined) conditions.push(['run.id < ?', firstId('run', until)])
    if (before !== undefined) conditions.push(['run.id < ?', before])
    const where = conditions.length === 0 ? '' : `WHERE ${conditions.map(([text]) => text).join(' AND ')}`
    return { where, values: conditions.map(([, value]) => value) }
  }

  #claimAll(claimable: () => string[], worker: string, now: number): ClaimedRun[] {
    this.#holdPaused(claimable)
    return claimable().flatMap((id) => {
      const row = this.#claim.get(worker, now, id)
      return row ? [this.#readClaim(row, worker, now)] : []
    })
  }

  #readClaim(row: ClaimRow, worker: string, now: number): ClaimedRun {
    return {
      lease: { runId: row.id, fence: row.fence, worker },
      workflow: row.workflow,
      attempt: row.attempt,
      createdAt: row.created_at,
      startedAt: row.started_at ?? now,
      isFirstPass: row.fence === FIRST_FENCE,
      isAdmitted: row.turn === 'in',
      folded: row.folded ?? 0,
      codeHash: row.code_hash,
      cause: this.#readCause(row),
      handler: row.handler,
      originRun: row.origin_run,
      failure: row.failure === null ? null : JSON.parse(row.failure),
    }
  }

  #readCause(row: ClaimRow): RunCause {
    if (row.event_seq !== null) return { kind: 'event', event: this.#events.get(row.event_seq) }
    if (row.input !== null) return { kind: 'call', account: row.account ?? 'default', input: row.input }
    return { kind: 'tick', ...this.#ticks.get(row.workflow, row.tick_at ?? 0) }
  }
}

function readRun(row: RunRow): Run {
  return {
    id: row.id,
    workflow: row.workflow,
    status: row.status,
    reason: row.reason,
    eventId: row.event_id,
    tickAt: row.tick_at,
    origin: row.origin,
    originRun: row.origin_run,
    handler: row.handler,
    parentRun: row.parent_run,
    parentStep: row.parent_step,
    attempt: row.attempt,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    dueAt: row.due_at,
    awaits: row.awaits === 1,
    isInLine: row.status === 'waiting' && row.turn === 'waits',
    foldedInto: row.folded_into,
    folded: row.folded ?? 0,
    output: row.output,
    ...(row.apart_bytes === null ? {} : { apartBytes: row.apart_bytes }),
    error: row.error === null ? null : JSON.parse(row.error),
  }
}
