import type { ClaimedRun, RunCause } from '../../../core/runs/claim.ts'
import { FIRST_FENCE } from '../../../core/runs/lease.ts'
import { PAUSED_REASON, type RunHandler, type RunOrigin } from '../../../core/runs/run.ts'
import { DEFAULT_ACCOUNT } from '../../../core/service/account.ts'
import type { Connection } from '../database/connection.ts'
import type { GateTable } from '../gates/gate-table.ts'
import type { EventTable } from '../incoming/event-table.ts'
import { prepareFindRoot } from './find-root.ts'
import type { TickTable } from './tick-table.ts'

/** The runs that a claim looks for. */
export type ClaimKind = 'any' | 'suspect' | 'unadmitted'

interface ClaimRow {
  id: string | null
  workflow: string
  event_seq: number | null
  tick_at: number | null
  input: string | null
  account: string | null
  parent_run: string | null
  depth: number
  code_hash: string | null
  fence: number
  attempt: number
  created_at: number
  started_at: number | null
  gate_state: string | null
  folded: number | null
  origin: RunOrigin
  handler: RunHandler
  origin_run: string | null
  failure: string | null
  received: string | null
}

/** Claims runs of the queue. Index: those of `work`, in their order. */
export class Claims {
  readonly #events: EventTable
  readonly #ticks: TickTable
  readonly #sql
  readonly #findRoot

  constructor(db: Connection, { events, ticks }: { events: EventTable; ticks: TickTable }) {
    this.#events = events
    this.#ticks = ticks
    this.#findRoot = prepareFindRoot(db)
    this.#sql = {
      claim: db.prepare<[ClaimKind, string, number, number, number], ClaimRow>(
        'SELECT * FROM claim_runs_1(?, ?, ?, ?, ?)',
      ),
      // A run that a worker claims now is passed over.
      hold: db
        .prepare<[ClaimKind, string, number, number], string>(
          `UPDATE work SET status = 'waiting', due_at = NULL, awaits = 0, reason = '${PAUSED_REASON}'
           WHERE run_id = ANY (claimable_1(?, ?, ?, ?)) AND workflow IN (SELECT workflow FROM workflow_pause)
           RETURNING run_id`,
        )
        .pluck(),
    }
  }

  /** Null where runs of paused workflows are first in the queue: they have to be held before. */
  async claim(
    kind: ClaimKind,
    worker: string,
    { limit, now, number }: { limit: number; now: number; number: number },
  ): Promise<ClaimedRun[] | null> {
    const rows = await this.#sql.claim.all(kind, worker, limit, now, number)
    if (rows[0]?.id === null) return null
    return Promise.all(rows.map((row) => this.#read(row, worker, now)))
  }

  /** Holds the runs of paused workflows among the next ones, and returns their number. */
  async hold(
    kind: ClaimKind,
    worker: string,
    { limit, now, gates }: { limit: number; now: number; gates: GateTable },
  ): Promise<number> {
    const held = await this.#sql.hold.all(kind, worker, limit, now)
    for (const run of held) await gates.sleep(run)
    return held.length
  }

  async #read(row: ClaimRow, worker: string, now: number): Promise<ClaimedRun> {
    return {
      lease: { runId: row.id ?? '', fence: row.fence, worker },
      workflow: row.workflow,
      attempt: row.attempt,
      createdAt: row.created_at,
      startedAt: row.started_at ?? now,
      isFirstPass: row.fence === FIRST_FENCE,
      isAdmitted: row.gate_state === 'admitted',
      folded: row.folded ?? 0,
      depth: row.depth,
      codeHash: row.code_hash,
      cause: await this.#readCause(row),
      origin: row.origin,
      handler: row.handler,
      originRun: row.origin_run,
      failure: row.failure === null ? null : JSON.parse(row.failure),
      ...(row.received === null ? {} : { received: JSON.parse(row.received) }),
    }
  }

  async #readCause(row: ClaimRow): Promise<RunCause> {
    if (row.event_seq !== null) return { kind: 'event', event: await this.#events.get(row.event_seq) }
    if (row.input !== null) {
      const call = { kind: 'call', account: row.account ?? DEFAULT_ACCOUNT, input: row.input } as const
      return { ...call, parentRun: row.parent_run ?? '', root: await this.#findRoot(row.id ?? '', row.workflow) }
    }
    return { kind: 'tick', ...(await this.#ticks.get(row.workflow, row.tick_at ?? 0, row.account ?? DEFAULT_ACCOUNT)) }
  }
}
