import type { Failure } from '../errors.ts'
import type { DeliveryReceipt, IncomingDelivery } from '../incoming/delivery.ts'
import type { EventRecord } from '../incoming/event.ts'
import type { Lease } from './lease.ts'
import { FIRST_FENCE } from './lease.ts'
import type { RunHandler } from './run.ts'

/** A run in the hands of a worker, with what its code needs. */
export interface ClaimedRun {
  lease: Lease
  workflow: string
  attempt: number
  createdAt: number
  /**
   * When its first pass began; its own clock starts here. Of a run that has yet to be admitted:
   * this claim's moment.
   */
  startedAt: number
  /**
   * True in the first pass: the journal is empty. A run that had to wait before it started is taken
   * for a later one.
   */
  isFirstPass: boolean
  /**
   * Hash of the code that writes its journal; null where that is not known before its first step.
   */
  codeHash: string | null
  /** True when the store has let it in: it holds its places and is not asked again. */
  isAdmitted: boolean
  /** How many runs it has absorbed. */
  folded: number
  cause: RunCause
  handler: RunHandler
  /** The run that this one goes back to. */
  originRun: string | null
  /** What `onFailure` is told: how the run that it follows failed; null for `run`. */
  failure: Failure | null
}

export type RunCause =
  | { kind: 'event'; event: EventRecord }
  | { kind: 'tick'; scheduledFor: number; lastRunAt: number | null; missed: number }
  /** Invoked by another run; `input` is JSON text. */
  | { kind: 'call'; account: string; input: string }

/** The runs that a delivery's worker has taken with it, as a claim would give them. */
export function listClaimedOnArrival(
  delivery: IncomingDelivery,
  { runs, claimedWithEvent }: DeliveryReceipt,
): ClaimedRun[] {
  const { arrivalClaim, workflows, account, receivedAt, body, event } = delivery
  if (claimedWithEvent === undefined || arrivalClaim === undefined) return []
  const { id, type, created } = event
  const record = {
    seq: claimedWithEvent,
    id,
    account,
    type,
    origin: 'webhook',
    createdAt: Date.parse(created),
    receivedAt,
    body,
  } as const
  return workflows.map((workflow, index) => ({
    lease: { runId: runs[index] ?? '', fence: FIRST_FENCE, worker: arrivalClaim.worker },
    workflow,
    attempt: 0,
    createdAt: receivedAt,
    startedAt: receivedAt,
    isFirstPass: true,
    codeHash: arrivalClaim.codeHashes[workflow] ?? null,
    isAdmitted: false,
    folded: 0,
    cause: { kind: 'event', event: record },
    handler: 'run',
    originRun: null,
    failure: null,
  }))
}

/** The account that a run acts in. */
export function accountOf(cause: RunCause): string {
  if (cause.kind === 'event') return cause.event.account
  return cause.kind === 'call' ? cause.account : 'default'
}
