import type { Failure } from '../errors.ts'
import type { DeliveryReceipt, IncomingDelivery } from '../incoming/delivery.ts'
import type { EventRecord } from '../incoming/event.ts'
import type { Tags } from './annotations/tags.ts'
import { FIRST_FENCE, type Lease } from './lease.ts'
import type { Run, RunHandler, RunOrigin } from './run.ts'
import type { Checkpoint } from './step.ts'
import type { RunRoot } from './trace.ts'

/** A run that a worker has claimed, with everything that its code needs. */
export interface ClaimedRun {
  lease: Lease
  workflow: string
  /** Failed passes so far. */
  attempt: number
  createdAt: number
  /** When its first pass began, in epoch milliseconds; before that, the moment of this claim. */
  startedAt: number
  /** True when the journal is empty. */
  isFirstPass: boolean
  /** The journal, where the store gives a short one with the claim. */
  steps?: readonly Checkpoint[]
  /** Hash of the code that writes its journal; null until its first step, if not known earlier. */
  codeHash: string | null
  /** True when the store has admitted it: it holds its slots and is not asked again. */
  isAdmitted: boolean
  /** Runs that were folded into it. */
  folded: number
  /** Length of the chain of runs that began one another up to it: see `LINK`. */
  depth: number
  cause: RunCause
  origin: RunOrigin
  handler: RunHandler
  /** The run that it repeats, forks or follows; null for none. */
  originRun: string | null
  /** When the step that invoked it gives up, in epoch milliseconds; absent: never. */
  endsBy?: number
  /** Events that the runs before it have taken, by stream; absent where it continues none. */
  received?: Record<string, readonly string[]>
  /** Its tags, as far as earlier passes wrote them, or it was made with. Absent: none. */
  tags?: Tags
  /** The failure that `onFailure` is given; null for `run`. */
  failure: Failure | null
}

/** A run with all that its code was given, read without a claim. */
export interface Recording {
  run: Run
  /** The run in the form in which a worker gets it. Its lease is worth nothing. */
  claim: ClaimedRun
  /** Its journal, in the order in which its steps began. */
  steps: Checkpoint[]
}

/** A due moment, the one before it, and how many were missed between. */
export interface CauseTick {
  scheduledFor: number
  lastRunAt: number | null
  missed: number
}

/** The reason for a run. Times are epoch milliseconds. */
export type RunCause =
  | { kind: 'event'; event: EventRecord }
  | ({ kind: 'tick'; account: string } & CauseTick)
  /** Invoked by the run `parentRun`, or by a schedule at its `tick`; `input` is JSON text. */
  | { kind: 'call'; account: string; input: string; parentRun: string; root: RunRoot; tick?: CauseTick }

/** The runs that a delivery's worker claimed, in the form in which `claimRuns` gives them. */
export function listClaimedOnArrival(
  delivery: IncomingDelivery,
  { runs, claimedWithEvent, era }: DeliveryReceipt,
): ClaimedRun[] {
  const { arrivalClaim, workflows, account, receivedAt, body, event } = delivery
  if (claimedWithEvent === undefined || arrivalClaim === undefined) return []
  const { id, type, created } = event
  const record = {
    ...claimedWithEvent,
    id,
    account,
    type,
    origin: 'webhook',
    createdAt: Date.parse(created),
    receivedAt,
    body,
  } as const
  return workflows.map((workflow, index) => ({
    lease: {
      runId: runs[index] ?? '',
      fence: FIRST_FENCE,
      worker: arrivalClaim.worker,
      ...(era === undefined ? {} : { era }),
    },
    workflow,
    attempt: 0,
    createdAt: receivedAt,
    startedAt: receivedAt,
    isFirstPass: true,
    codeHash: arrivalClaim.codeHashes[workflow] ?? null,
    isAdmitted: false,
    folded: 0,
    depth: 0,
    cause: { kind: 'event', event: record },
    origin: 'event',
    handler: 'run',
    originRun: null,
    failure: null,
  }))
}

/** The account that a run acts for. Its Files calls use this account's API key. */
export function accountOf(cause: RunCause): string {
  return cause.kind === 'event' ? cause.event.account : cause.account
}

/** The event or tick that a run goes back to. */
export function rootOf({ workflow, cause }: Pick<ClaimedRun, 'workflow' | 'cause'>): RunRoot {
  if (cause.kind === 'event') return { kind: 'event', account: cause.event.account, event: cause.event.id }
  return cause.kind === 'call' ? cause.root : { kind: 'tick', schedule: workflow, scheduledFor: cause.scheduledFor }
}
