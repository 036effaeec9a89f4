import type { Database } from 'better-sqlite3'
import { UNADMITTED_PRIORITY } from '../../../core/runs/admission.ts'
import { TRIED_ALONE } from '../../../core/runs/blame.ts'
import type { ClaimedRun, RunCause } from '../../../core/runs/claim.ts'
import { DEFAULT_ACCOUNT } from '../../../core/service/account.ts'
import { CLAIM_COLUMNS, type ClaimRow, readClaim } from '../../rows/runs/claim-row.ts'
import { IS_READY } from '../database/is-ready.ts'
import type { EventTable } from '../incoming/event-table.ts'
import { prepareFindRoot } from './find-root.ts'
import { PartialQueue } from './partial-queue.ts'
import type { TickTable } from './tick-table.ts'
import type { WorkflowTable } from './workflow-table.ts'

/** Runs of paused workflows that one claim holds at most; the next claim goes on. */
const MAX_HELD = 500

/** Suspects that a claim looks at, for the first that is not another worker's. */
const MAX_SUSPECTS = 100

/** Claims runs of the queue. */
export class Claims {
  readonly #events: EventTable
  readonly #ticks: TickTable
  readonly #workflows: WorkflowTable
  readonly #sql
  readonly #partial
  readonly #findRoot

  constructor(db: Database, tables: { events: EventTable; ticks: TickTable; workflows: WorkflowTable }) {
    this.#events = tables.events
    this.#ticks = tables.ticks
    this.#workflows = tables.workflows
    this.#sql = prepareStatements(db)
    this.#partial = new PartialQueue(db)
    this.#findRoot = prepareFindRoot(db)
  }

  claim(worker: string, limit: number, now: number): ClaimedRun[] {
    const foreign = this.#workflows.elsewhere(worker)
    if (foreign.length === 0) return this.#claimAll(() => this.#claimable(limit, now), worker, now)
    const lacking = JSON.stringify(foreign)
    return this.#claimAll(() => this.#partial.list(limit, now, lacking), worker, now)
  }

  claimUnadmitted(worker: string, limit: number, now: number): ClaimedRun[] {
    return this.#claimAll(() => this.#leaveForeign(worker, this.#sql.unadmitted.all(limit)), worker, now)
  }

  claimSuspects(worker: string, limit: number, now: number): ClaimedRun[] {
    return this.#claimAll(
      () => this.#leaveForeign(worker, this.#sql.suspects.all(MAX_SUSPECTS)).slice(0, limit),
      worker,
      now,
    )
  }

  /** Without the runs that only another worker at work has the code for. */
  #leaveForeign(worker: string, ids: string[]): string[] {
    const foreign = ids.length === 0 ? [] : this.#workflows.elsewhere(worker)
    if (foreign.length === 0) return ids
    return ids.filter((id) => !foreign.includes(this.#sql.workflowOf.get(id) ?? ''))
  }

  /** The first run that a claim would give the worker; null: none. */
  find(worker: string, now: number): string | null {
    const without = [...this.#workflows.elsewhere(worker), ...this.#workflows.paused()]
    return this.#partial.first(now, JSON.stringify(without))
  }

  hasSuspects(): boolean {
    return this.#sql.suspects.get(1) !== undefined
  }

  #claimable(limit: number, now: number): string[] {
    const due = this.#sql.due.all(now, limit)
    return due.length < limit ? [...due, ...this.#sql.ready.all(limit - due.length)] : due
  }

  /** Holds runs of paused workflows until none is at the head of the queue, up to `MAX_HELD`. */
  #holdPaused(claimable: () => string[]): void {
    const paused = this.#workflows.paused()
    if (paused.size === 0) return
    for (let held = 0; held < MAX_HELD; ) {
      const ids = claimable().filter((id) => paused.has(this.#sql.workflowOf.get(id) ?? ''))
      if (ids.length === 0) return
      held += ids.filter((id) => this.#workflows.hold(id)).length
    }
  }

  /** The run as a claim would give it; its start is its making while it has none. */
  readAsClaimed(id: string): ClaimedRun | null {
    const row = this.#sql.asClaimed.get(id)
    return row ? readClaim(row, this.#readCause(row), { worker: '', now: row.created_at }) : null
  }

  #claimAll(claimable: () => string[], worker: string, now: number): ClaimedRun[] {
    this.#holdPaused(claimable)
    return claimable().flatMap((id) => {
      const row = this.#sql.claim.get(worker, now, id)
      return row ? [readClaim(row, this.#readCause(row), { worker, now })] : []
    })
  }

  #readCause(row: ClaimRow): RunCause {
    if (row.event_seq !== null) return { kind: 'event', event: this.#events.get(row.event_seq) }
    if (row.input !== null) {
      const call = { kind: 'call', account: row.account ?? DEFAULT_ACCOUNT, input: row.input } as const
      return { ...call, parentRun: row.parent_run ?? '', root: this.#findRoot(row.id, row.workflow) }
    }
    return { kind: 'tick', ...this.#ticks.get(row.workflow, row.tick_at ?? 0, row.account ?? DEFAULT_ACCOUNT) }
  }
}

/** Statements that find runs to claim, and claim one. */
function prepareStatements(db: Database) {
  return {
    // Index: run_waiting.
    due: db
      .prepare<[number, number], string>(
        `SELECT id FROM run WHERE status = 'waiting' AND due_at IS NOT NULL AND due_at <= ? ORDER BY due_at LIMIT ?`,
      )
      .pluck(),
    // Index: run_ready, in its order.
    ready: db.prepare<[number], string>(`SELECT id FROM run WHERE ${IS_READY} ORDER BY turn, id LIMIT ?`).pluck(),
    // Index: run_suspect, in its order, with those that are not pending.
    suspects: db
      .prepare<[number], string>(
        `SELECT id FROM run WHERE suspicion >= ${TRIED_ALONE} AND status = 'pending'
         ORDER BY turn, id LIMIT ?`,
      )
      .pluck(),
    // Index: run_ready, its first rows.
    unadmitted: db
      .prepare<[number], string>(
        `SELECT id FROM run WHERE ${IS_READY} AND turn <= ${-2 * UNADMITTED_PRIORITY}
         ORDER BY turn, id LIMIT ?`,
      )
      .pluck(),
    // Index: primary key. A limited run starts when it is admitted, not when it is claimed.
    claim: db.prepare<[string, number, string], ClaimRow>(
      `UPDATE run SET status = 'running', worker = ?, fence = fence + 1, due_at = NULL, reason = NULL, awaits = 0,
         started_at = CASE WHEN gate_state IN ('in_line', 'outside') THEN started_at ELSE coalesce(started_at, ?) END,
         gate_state = CASE gate_state WHEN 'in_line' THEN 'outside' ELSE gate_state END
       WHERE id = ? RETURNING ${CLAIM_COLUMNS}`,
    ),
    // Index: primary key, for both.
    asClaimed: db.prepare<[string], ClaimRow>(`SELECT ${CLAIM_COLUMNS} FROM run WHERE id = ?`),
    workflowOf: db.prepare<[string], string>('SELECT workflow FROM run WHERE id = ?').pluck(),
  }
}
