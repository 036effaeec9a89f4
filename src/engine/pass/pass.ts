import type { Trigger } from '../../author/trigger.ts'
import type { AboutRun } from '../../core/notices.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import type { RetryOptions } from '../../core/runs/retry.ts'
import type { RunRoot } from '../../core/runs/trace.ts'
import type { WorkflowLimits } from '../../core/safety/guard.ts'
import type { ProofReads } from '../../core/safety/votes/approval-proof.ts'
import type { StorageSpellings } from '../../core/service/storage.ts'
import type { Duration } from '../../core/time.ts'
import type { EventMatcher } from '../event-matcher.ts'
import type { WorkerParts } from '../worker-parts.ts'
import type { RunProgress, RunTags } from './annotations.ts'
import type { CallSites } from './find-call-site.ts'
import type { Journal } from './journal.ts'
import type { OutcomeOrder } from './order/outcome-order.ts'
import type { Parking } from './parking.ts'
import type { StepStub } from './step-stub.ts'

/** One pass of a worker through a run: everything that its steps need. */
export interface Pass
  extends Pick<
    WorkerParts,
    | 'routes'
    | 'clock'
    | 'random'
    | 'publish'
    | 'stillMs'
    | 'gatherMs'
    | 'guard'
    | 'runInSpan'
    | 'outside'
    | 'callbackUrl'
    | 'checkPlan'
  > {
  run: ClaimedRun
  on: Trigger
  /** The event or tick that the run goes back to. */
  root: RunRoot
  journal: Journal
  order: OutcomeOrder
  parking: Parking
  /** For reading; steps write through the journal. */
  store: Pick<
    WorkerParts['store'],
    | 'readOutput'
    | 'packOutput'
    | 'findMatch'
    | 'findQuestion'
    | 'listStops'
    | 'findRun'
    | 'findInvoked'
    | 'findSchedule'
    | 'watchRun'
  > &
    ProofReads
  matcher: Pick<EventMatcher, 'startMatching' | 'catchUp'>
  /** How the service spells the storages of the run's account. */
  spellings: StorageSpellings
  tags: RunTags
  progress: RunProgress
  /** True when other code than this wrote the journal. */
  isCodeChanged: boolean
  /** Aborts when the run is canceled, taken over or out of time, or the process stops. */
  abort: AbortController
  /** Where the code first called a step of each name. */
  places: CallSites
  /** The workflow's defaults for its steps. */
  retry: RetryOptions | undefined
  stepTimeout: Duration | undefined
  /** The workflow's own limits; undefined: those of the project. */
  ownLimits: WorkflowLimits | undefined
  /** True where each write must have a permit. */
  limitsWrites: boolean
  /** Most calls of steps; one more and the run waits for a person. */
  maxSteps: number
  /** When the run times out; null: never. */
  deadline: number | null
  /** Answers its steps where the run is previewed; absent where it is executed. */
  stub?: StepStub
}

export function aboutRun({ run, root }: Pick<Pass, 'run' | 'root'>): AboutRun {
  return { run: run.lease.runId, workflow: run.workflow, root }
}
