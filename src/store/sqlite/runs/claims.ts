import { UNADMITTED_PRIORITY } from '../../../core/runs/admission.ts'
import { TRIED_ALONE } from '../../../core/runs/blame.ts'
import type { ClaimedRun, RunCause } from '../../../core/runs/claim.ts'
import { DEFAULT_ACCOUNT } from '../../../core/service/account.ts'
import { CLAIM_COLUMNS, type ClaimRow, readClaim } from '../../rows/runs/claim-row.ts'
import type { SqliteConnection } from '../database/connection.ts'
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

  constructor(db: SqliteConnection, tables: { events: EventTable; ticks: TickTable; workflows: WorkflowTable }) {
    this.#events = tables.events
    this.#ticks = tables.ticks
    this.#workflows = tables.workflows
    this.#sql = prepareStatements(db)
    this.#partial = new PartialQueue(db.raw)
    this.#findRoot = prepareFindRoot(db)
  }

  async claim(worker: string, limit: number, now: number): Promise<ClaimedRun[]> {
    const foreign = await this.#workflows.elsewhere(worker)
    if (foreign.length === 0) return this.#claimAll(async () => this.#claimable(limit, now), worker, now)
    const lacking = JSON.stringify(foreign)
    return this.#claimAll(async () => this.#partial.list(limit, now, lacking), worker, now)
  }

  async claimUnadmitted(worker: string, limit: number, now: number): Promise<ClaimedRun[]> {
    return this.#claimAll(async () => this.#leaveForeign(worker, await this.#sql.unadmitted.all(limit)), worker, now)
  }

  async claimSuspects(worker: string, limit: number, now: number): Promise<ClaimedRun[]> {
    return this.#claimAll(
      async () => (await this.#leaveForeign(worker, await this.#sql.suspects.all(MAX_SUSPECTS))).slice(0, limit),
      worker,
      now,
    )
  }

  /** Without the runs that only another worker at work has the code for. */
  async #leaveForeign(worker: string, ids: string[]): Promise<string[]> {
    const foreign = ids.length === 0 ? [] : await this.#workflows.elsewhere(worker)
    if (foreign.length === 0) return ids
    const own = await Array.fromAsync(ids, async (id) => !foreign.includes((await this.#sql.workflowOf.get(id)) ?? ''))
    return ids.filter((_, at) => own[at])
  }

  /** The first run that a claim would give the worker; null: none. */
  async find(worker: string, now: number): Promise<string | null> {
    const without = [...(await this.#workflows.elsewhere(worker)), ...(await this.#workflows.paused())]
    return this.#partial.first(now, JSON.stringify(without))
  }

  async hasSuspects(): Promise<boolean> {
    return (await this.#sql.suspects.get(1)) !== undefined
  }

  async #claimable(limit: number, now: number): Promise<string[]> {
    const due = await this.#sql.due.all(now, limit)
    return due.length < limit ? [...due, ...(await this.#sql.ready.all(limit - due.length))] : due
  }

  /** Holds runs of paused workflows until none is at the head of the queue, up to `MAX_HELD`. */
  async #holdPaused(claimable: () => Promise<string[]>): Promise<void> {
    const paused = await this.#workflows.paused()
    if (paused.size === 0) return
    for (let held = 0; held < MAX_HELD; ) {
      const before = held
      for (const id of await claimable()) {
        if (paused.has((await this.#sql.workflowOf.get(id)) ?? '') && (await this.#workflows.hold(id))) held += 1
      }
      if (held === before) return
    }
  }

  /** The run as a claim would give it; its start is its making while it has none. */
  async readAsClaimed(id: string): Promise<ClaimedRun | null> {
    const row = await this.#sql.asClaimed.get(id)
    return row ? readClaim(row, await this.#readCause(row), { worker: '', now: row.created_at }) : null
  }

  async #claimAll(claimable: () => Promise<string[]>, worker: string, now: number): Promise<ClaimedRun[]> {
    await this.#holdPaused(claimable)
    const claimed: ClaimedRun[] = []
    for (const id of await claimable()) {
      const row = await this.#sql.claim.get(worker, now, id)
      if (row) claimed.push(readClaim(row, await this.#readCause(row), { worker, now }))
    }
    return claimed
  }

  async #readCause(row: ClaimRow): Promise<RunCause> {
    if (row.event_seq !== null) return { kind: 'event', event: await this.#events.get(row.event_seq) }
    if (row.input !== null) {
      const call = { kind: 'call', account: row.account ?? DEFAULT_ACCOUNT, input: row.input } as const
      return { ...call, parentRun: row.parent_run ?? '', root: await this.#findRoot(row.id, row.workflow) }
    }
    return { kind: 'tick', ...(await this.#ticks.get(row.workflow, row.tick_at ?? 0, row.account ?? DEFAULT_ACCOUNT)) }
  }
}

/** Statements that find runs to claim, and claim one. */
function prepareStatements(db: SqliteConnection) {
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
