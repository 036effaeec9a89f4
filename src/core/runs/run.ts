import type { Failure } from '../errors.ts'
import type { PackedOutput } from './step.ts'

/**
 * `pending`: ready to be claimed. `waiting`: for its moment, or for a person when it has none;
 * `reason` says which.
 */
export const RUN_STATUSES = ['pending', 'running', 'waiting', 'completed', 'failed', 'canceled', 'skipped'] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

/** What made a run; `manual` is a tick made by hand. */
export const RUN_ORIGINS = ['event', 'tick', 'manual', 'replay', 'fork', 'failure'] as const
export type RunOrigin = (typeof RUN_ORIGINS)[number]

/** Which function of its module a run executes. */
export type RunHandler = 'run' | 'onFailure'

/** One execution of a workflow. */
export interface Run {
  id: string
  workflow: string
  status: RunStatus
  /** Why it waits, was skipped or canceled; null otherwise. */
  reason: string | null
  /** The event that caused it; null for a tick. */
  eventId: string | null
  /** The due moment that caused it; null for an event. */
  tickAt: number | null
  origin: RunOrigin
  /**
   * The run that it repeats, was forked from, or follows the failure of; null for none. It may be
   * pruned.
   */
  originRun: string | null
  handler: RunHandler
  /** The run, and its step, that invoked this one; null where none did. */
  parentRun: string | null
  parentStep: string | null
  /** Failed passes of its code outside steps. */
  attempt: number
  createdAt: number
  startedAt: number | null
  finishedAt: number | null
  /**
   * When a waiting run goes on at the latest; null: when what it awaits happens, its turn comes, or
   * a person says so.
   */
  dueAt: number | null
  /** True for a waiting run that an event or another run wakes. */
  awaits: boolean
  /** True while it waits for its turn, not for a moment or a person. */
  isInLine: boolean
  /** The run that has absorbed this one. */
  foldedInto: string | null
  /** How many runs it has absorbed itself, those that these had absorbed before included. */
  folded: number
  /** JSON text; null also where it lies apart. */
  output: string | null
  /** Bytes of the output's JSON where it is not in `output`: `readOutput` gives it. */
  apartBytes?: number
  error: Failure | null
}

/** How one pass through a run ended. */
export type RunOutcome =
  | { kind: 'completed'; output: string | PackedOutput }
  | { kind: 'failed'; error: Failure }
  /**
   * Goes on at `dueAt`, or when a person says so (null), or sooner when one of the steps it awaits
   * is resolved.
   */
  | { kind: 'parked'; dueAt: number | null; reason: string; awaits?: readonly string[]; hasNotStarted?: boolean }
  /** Waits for its turn; the store has it so already. */
  | { kind: 'queued'; dueAt: number | null; reason: string }
  /** Let in, and waits for a free slot of a worker; the store has it so already. */
  | { kind: 'ready' }
  /** By a rule of its workflow; the store has it so already. */
  | { kind: 'canceled'; reason: string }
  /** Its code failed outside a step and is tried again. */
  | { kind: 'retry'; dueAt: number; error: Failure }
  /**
   * Its `where` said no, or another run has its event; `isSettled`: the store has it so already.
   */
  | { kind: 'skipped'; reason: string; isSettled?: boolean }
  /** Handed back because this process stops. */
  | { kind: 'released' }
  /** Taken over, or canceled, while this pass was running: nothing more may be written. */
  | { kind: 'lost' }

/**
 * Reasons that are marks as well: releasing finds its runs by them, and indexes are built on them.
 */
export const PAUSED_REASON = 'the workflow is paused'
export const QUEUED_TICK_REASON = 'the tick before it is not finished'

/** What a person may do to one run. */
export type RunOperation = 'cancel' | 'retry' | 'resume'

/** What of a run decides whether an operation fits it. */
type FittingRun = Pick<Run, 'status' | 'dueAt' | 'reason'> & Partial<Pick<Run, 'awaits' | 'isInLine'>>

/**
 * Whether an operation fits a run as it is: null, or why it does not. The store asks again in its
 * own transaction.
 */
export function findObstacle(operation: RunOperation, run: FittingRun): string | null {
  const { status, dueAt, reason, awaits = false, isInLine = false } = run
  switch (operation) {
    case 'cancel':
      return isFinished(status) ? `it is ${status} already` : null
    case 'retry':
      if (status === 'failed' || status === 'canceled') return null
      return isFinished(status) ? `it is ${status}, there is nothing to go on from` : `it is ${status}, not finished`
    case 'resume':
      if (status !== 'waiting') return `it is ${status}, it waits for nobody`
      if (dueAt !== null || awaits || isInLine) return 'it goes on by itself'
      return reason === PAUSED_REASON || reason === QUEUED_TICK_REASON
        ? `${reason}, it goes on by itself after that`
        : null
    default:
      return operation satisfies never
  }
}

/** No pass of it comes any more, unless a person retries it. */
export function isFinished(status: RunStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'canceled' || status === 'skipped'
}

/** Which runs are meant; every part narrows. */
export interface RunFilter {
  status?: RunStatus
  workflow?: string
  eventId?: string
  /** Whose event `eventId` is; every account's without it. */
  account?: string
  origin?: RunOrigin
  /** Runs that go back to this one. */
  originRun?: string
  /** Runs that this one invoked. */
  parentRun?: string
  /** Made at this moment or later … */
  since?: number
  /** … and before this one. */
  until?: number
  /** Older than this run, by its id: where the page before ended. */
  before?: string
}
