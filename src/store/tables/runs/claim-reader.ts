import type { EventOrigin, EventRecord } from '../../../core/incoming/event.ts'
import { TRIED_ALONE } from '../../../core/runs/blame.ts'
import type { ClaimedRun, Recording, RunCause } from '../../../core/runs/claim.ts'
import type { RunHandler, RunOrigin } from '../../../core/runs/run.ts'
import type { RunRoot } from '../../../core/runs/trace.ts'
import { DEFAULT_ACCOUNT } from '../../../core/service/account.ts'
import { type Connection, JoinedTable } from '../../connection.ts'
import type { Dialect } from '../../dialect.ts'
import { describeMissing } from '../incoming/events.ts'
import type { TickTable } from '../schedules/tick-table.ts'
import type { RunTable } from './run-table.ts'
import { readStep, type StepTable } from './step-table.ts'

/** Reads the rows of claimed runs, with what made each. Index: primary keys. */
export class ClaimReader extends JoinedTable<{ ticks: TickTable }> {
  readonly #asClaimed = this.db.prepare<[string[]], ClaimRow>(
    `SELECT ${claimColumns(this.db.sql)} FROM ${joinEvent('full_run', this.db.sql)}
     WHERE ${this.db.sql.isOneOf('run.id', 'text')}`,
  )

  /** Runs as a claim would give them. A run without a start begins at its making. */
  async readAsClaimed(runIds: readonly string[]): Promise<ClaimedRun[]> {
    const rows = await this.#asClaimed.all([...runIds])
    return this.read(rows, (row) => ({ worker: '', now: row.createdAt }))
  }

  async read<Row extends ClaimRow>(
    rows: readonly Row[],
    facts: (row: Row) => { worker: string; now: number },
  ): Promise<ClaimedRun[]> {
    return Array.fromAsync(rows, async (row) => readClaim(row, await this.#readCause(row), facts(row)))
  }

  async #readCause(row: ClaimRow): Promise<RunCause> {
    if (row.eventSeq !== null) return { kind: 'event', event: readEvent(row, row.eventSeq) }
    const account = row.account ?? DEFAULT_ACCOUNT
    const tick =
      row.tickAt === null ? null : await this.parts.ticks.get(row.schedule ?? row.workflow, row.tickAt, account)
    if (row.input !== null) {
      const call = {
        kind: 'call',
        account,
        input: row.input,
        parentRun: row.parentRun ?? '',
        root: readRoot(row),
      } as const
      return tick === null ? call : { ...call, tick }
    }
    return { kind: 'tick', account, ...(tick ?? { scheduledFor: 0, lastRunAt: null, missed: 0 }) }
  }
}

/** Runs with their journals, in the order of the ids. */
export async function readRecordings(
  { runs, claimReader, steps }: { runs: RunTable; claimReader: ClaimReader; steps: StepTable },
  runIds: readonly string[],
): Promise<Recording[]> {
  const claimed = new Map((await claimReader.readAsClaimed(runIds)).map((claim) => [claim.lease.runId, claim]))
  const found = await Array.fromAsync(runIds, async (id): Promise<Recording[]> => {
    const claim = claimed.get(id)
    const run = claim ? await runs.findRun(id) : null
    return claim && run ? [{ run, claim, steps: await steps.listSteps(id) }] : []
  })
  return found.flat()
}

interface RootRow {
  id: string
  workflow: string
  tickAt: number | null
  schedule: string | null
  event?: string | null
  account: string | null
}

/** The root of an invoked run: the cause of the run at the top of its invocations. */
function readRoot(row: ClaimRow): RunRoot {
  const top: RootRow = row.root === null ? row : JSON.parse(row.root)
  if (top.event != null) return { kind: 'event', account: top.account ?? DEFAULT_ACCOUNT, event: top.event }
  if (top.tickAt === null) return { kind: 'start', run: top.id }
  return { kind: 'tick', schedule: top.schedule ?? top.workflow, scheduledFor: top.tickAt }
}

function readEvent(row: ClaimRow, seq: number): EventRecord {
  if (row.eventId === null) throw describeMissing(seq)
  return {
    stream: row.eventStream,
    seq,
    id: row.eventId,
    account: row.eventAccount,
    type: row.eventType,
    origin: row.eventOrigin,
    createdAt: row.eventCreatedAt,
    receivedAt: row.eventReceivedAt,
    body: row.eventBody,
  }
}

/** A row of a run with the columns that its code needs, in either store. */
export interface ClaimRow {
  id: string
  workflow: string
  eventSeq: number | null
  tickAt: number | null
  schedule: string | null
  input: string | null
  account: string | null
  parentRun: string | null
  depth: number
  codeHash: string | null
  fence: number
  attempt: number
  createdAt: number
  startedAt: number | null
  gateState: string | null
  folded: number | null
  origin: RunOrigin
  handler: RunHandler
  originRun: string | null
  failure: string | null
  received: string | null
  /** The journal as JSON, where a store gives it with the claim; null: it is to be listed. */
  steps: string | null
  /** As JSON; null also in the first claim of a run that was made from no other. */
  tags: string | null
  endsBy: number | null
  /** The cause of the run at the top of the invocations above, as JSON; null: none is above. */
  root: string | null
  eventStream: number
  /** Null where the event is missing, or none made the run. */
  eventId: string | null
  eventAccount: string
  eventType: string
  eventOrigin: EventOrigin
  eventCreatedAt: number
  eventReceivedAt: number
  eventBody: string
  /** See `Lease`; absent in a store without failover. */
  era?: string
}

/** The columns of a {@link ClaimRow}, of {@link joinEvent} and `work`. */
export const claimColumns = ({ tagsOf, rootOf }: Dialect) =>
  'run.id, run.workflow, event_seq, run.tick_at, run.schedule, input, run.account, parent_run, depth, code_hash, ' +
  'fence, attempt, run.created_at, started_at, run.origin, handler, origin_run, failure, gate_state, folded, ' +
  'received, ends_by, event.stream AS event_stream, event.id AS event_id, event.account AS event_account, ' +
  'event.type AS event_type, event.origin AS event_origin, event.created_at AS event_created_at, ' +
  'event.received_at AS event_received_at, event.body AS event_body, ' +
  `CASE WHEN fence = 1 OR NOT EXISTS (SELECT 1 FROM step WHERE step.run_id = run.id) THEN '[]' END AS steps, ` +
  `CASE WHEN fence > 1 OR origin_run IS NOT NULL THEN ${tagsOf('run.id')} END AS tags, ` +
  `CASE WHEN parent_run IS NOT NULL THEN ${rootOf('run')} END AS root`

/** A table of runs, with the event of each. */
export const joinEvent = (table: string, { isEvent }: Dialect) =>
  `${table} AS run LEFT JOIN full_event AS event ON ${isEvent('run.event_seq')}`

/** A claimed run. `now`: the start of a run that has none. */
function readClaim(row: ClaimRow, cause: RunCause, { worker, now }: { worker: string; now: number }): ClaimedRun {
  return {
    lease: { runId: row.id, fence: row.fence, worker, ...(row.era === undefined ? {} : { era: row.era }) },
    workflow: row.workflow,
    attempt: row.attempt,
    createdAt: row.createdAt,
    startedAt: row.startedAt ?? now,
    isFirstPass: row.steps === '[]',
    ...(row.steps === null || row.steps === '[]' ? {} : { steps: JSON.parse(row.steps).map(readStep) }),
    isAdmitted: row.gateState === 'admitted',
    folded: row.folded ?? 0,
    depth: row.depth,
    codeHash: row.codeHash,
    cause,
    origin: row.origin,
    handler: row.handler,
    originRun: row.originRun,
    failure: row.failure === null ? null : JSON.parse(row.failure),
    ...(row.tags === null || row.tags === '{}' ? {} : { tags: JSON.parse(row.tags) }),
    ...(row.endsBy === null ? {} : { endsBy: row.endsBy }),
    ...(row.received === null ? {} : { received: JSON.parse(row.received) }),
  }
}

/** Condition of a run that any worker may claim. Index: work_ready, which skips suspects. */
export const IS_READY = `status = 'pending' AND suspicion < ${TRIED_ALONE}`

/** Of no paused workflow, and of none that only other workers at work have. */
const IS_OURS = `workflow NOT IN (SELECT paused.workflow FROM workflow_pause AS paused)
  AND workflow NOT IN (SELECT theirs.workflow FROM worker_workflow AS theirs WHERE theirs.worker <> @worker
    AND NOT EXISTS (SELECT 1 FROM worker_workflow AS own
      WHERE own.worker = @worker AND own.workflow = theirs.workflow))`

/** Finds the first run that a claim would give a worker, were it free; null: none. */
export function prepareFirstClaimable(db: Connection): (worker: string, now: number) => Promise<string | null> {
  // Index: work_waiting, and work_ready in its order.
  const firstDue = db.pluck<{ worker: string; now: number }, string>(
    `SELECT run_id FROM work WHERE status = 'waiting' AND due_at IS NOT NULL AND due_at <= @now AND ${IS_OURS}
     ORDER BY due_at LIMIT 1`,
  )
  const firstReady = db.pluck<{ worker: string }, string>(
    `SELECT run_id FROM work WHERE ${IS_READY} AND ${IS_OURS} ORDER BY turn, run_id LIMIT 1`,
  )
  return async (worker, now) => (await firstDue.get({ worker, now })) ?? (await firstReady.get({ worker })) ?? null
}
