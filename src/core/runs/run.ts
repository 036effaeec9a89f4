import type { Failure } from '../errors.ts'
import { isoTime } from '../time.ts'
import type { Progress } from './annotations/progress.ts'
import type { Tag, Tags } from './annotations/tags.ts'
import type { PackedOutput } from './step.ts'

/**
 * `pending`: ready to be claimed. `waiting`: `reason` says for what; see `dueAt`, `awaits` and
 * `isInLine`. `planned`: it was only planned, and has done nothing; its output is the plan.
 */
export const RUN_STATUSES = [
  'pending',
  'running',
  'waiting',
  'completed',
  'failed',
  'canceled',
  'skipped',
  'planned',
] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

/** The origins of a run; `manual` is a tick made by hand. */
export const RUN_ORIGINS = ['event', 'tick', 'manual', 'replay', 'plan', 'fork', 'failure', 'continue'] as const
export type RunOrigin = (typeof RUN_ORIGINS)[number]

/** The function of its module that a run executes. */
export type RunHandler = 'run' | 'onFailure'

/** A run and its workflow. */
export interface RunName {
  run: string
  workflow: string
}

/** One execution of a workflow. Times are epoch milliseconds. */
export interface Run {
  id: string
  workflow: string
  status: RunStatus
  /** Why it waits, was skipped or was canceled, or how its plan ends; null otherwise. */
  reason: string | null
  /** The event that started it; null for a tick or an invocation. */
  eventId: string | null
  /** The account that it acts for. */
  account: string
  /** The due moment that started it; null for an event. */
  tickAt: number | null
  /** Name of the schedule whose moment that is; its id once it is removed. Null for none. */
  schedule: string | null
  origin: RunOrigin
  /** The run that it repeats, forks, continues or follows up; null: none. It may be pruned. */
  originRun: string | null
  handler: RunHandler
  /** The run that goes on in its place; null for none. */
  continuedBy: string | null
  /** The run that invoked this one; null for none. */
  parentRun: string | null
  /** Key of the step that invoked this one; null for none. */
  parentStep: string | null
  /** Failed passes of its code outside steps. */
  attempt: number
  createdAt: number
  startedAt: number | null
  finishedAt: number | null
  /**
   * Latest time at which a waiting run goes on; null: something else, or a person, must wake it.
   */
  dueAt: number | null
  /**
   * When it times out, by the present `timeout.run` of its workflow; null: never, or not started.
   */
  deadline: number | null
  /** True when a rule of its workflow canceled it: `cancelOn`, `timeout.start` or `singleton`. */
  isCanceledByRule: boolean
  /** True while an event or another run can wake it. */
  awaits: boolean
  /** True while it waits for a slot at a gate. */
  isInLine: boolean
  /** The run that this one was folded into, which may be a folded one, too; null for none. */
  foldedInto: string | null
  /** Runs that were folded into this one, directly or through others. */
  folded: number
  /** JSON text; null also while `apartBytes` is set. */
  output: string | null
  /** Bytes of an output that is stored apart; `readOutput` reads it. */
  apartBytes?: number
  error: Failure | null
  /** A person's word that its failure needs nobody any more; null: none. A retry takes it back. */
  resolution: Resolution | null
  /** By which people find it; empty without any. */
  tags: Tags
  /** How far it has come, by its own word; null where it says nothing. */
  progress: Progress | null
}

/** A run that a step invoked, as far as the step needs it. */
export type InvokedRun = Pick<Run, 'id' | 'status' | 'reason' | 'output' | 'error' | 'finishedAt' | 'originRun'>

/** A person's word that a failed run needs nobody any more. */
export interface Resolution {
  /** The person, as the audit log names them. */
  by: string
  /** Epoch milliseconds. */
  at: number
  reason: string
}

/** A run that goes on in the place of another one. */
export interface Successor {
  run: string
  account: string
  /** JSON text. */
  input: string
  /** Ids of the newest events that the runs before it have taken, by stream. */
  received: Record<string, readonly string[]>
}

/** How one pass through a run ended. */
export type RunOutcome =
  | { kind: 'completed'; output: string | PackedOutput }
  /** Another run goes on in its place. */
  | { kind: 'continued'; successor: Successor }
  | { kind: 'failed'; error: Failure }
  /**
   * Goes on at `dueAt`, or sooner when a step in `awaits` is resolved. Null: it waits for a person
   * or for those steps; `asksPeople` where their word ends one of these.
   */
  | {
      kind: 'parked'
      dueAt: number | null
      reason: string
      awaits?: readonly string[]
      asksPeople?: true
      hasNotStarted?: boolean
    }
  /** In line at a gate; already written. */
  | { kind: 'queued'; dueAt: number | null; reason: string }
  /** Admitted, and waiting for a worker's free slot; already written. */
  | { kind: 'ready' }
  /** By a rule of its workflow, such as `cancelOn`; already written. */
  | { kind: 'canceled'; reason: string }
  /** The step that invoked it has given up: it is canceled. */
  | { kind: 'expired'; reason: string }
  /** Its code failed outside a step and runs again at `dueAt`. */
  | { kind: 'retry'; dueAt: number; error: Failure }
  /** By its `where`, or because another run has its event. `isSettled`: already written. */
  | { kind: 'skipped'; reason: string; isSettled?: boolean }
  /** Only planned: nothing was done. `plan`: its findings, as JSON text. */
  | { kind: 'planned'; reason: string; plan: string | PackedOutput }
  /** Given back, because this process stops. */
  | { kind: 'released' }
  /** Canceled or taken over during this pass: nothing more may be written. */
  | { kind: 'lost' }

/** Reason of runs held by a pause. Queries and an index rely on this exact text. */
export const PAUSED_REASON = 'the workflow is paused'
/** Reason of ticks that queue behind another one. Queries and an index rely on this exact text. */
export const QUEUED_TICK_REASON = 'the tick before it is not finished'

/** Reason of runs without a module, before the name of their workflow. A query relies on it. */
export const NO_MODULE_REASON = 'no module defines the workflow'
/** Reason of runs that an app which only plans may not touch. A query relies on this text. */
export const MADE_TO_ACT_REASON = 'it was made to act, and with UPSHOT_EFFECTS=plan nothing acts'
/** A run with one of these two looks again this much later, or once modules are loaded. */
export const RECHECK_MS = 60_000

/** Operations of a person on runs. `restart`: resumes without the journal. */
export const RUN_OPERATIONS = ['cancel', 'retry', 'resume', 'restart', 'resolve', 'unresolve'] as const
export type RunOperation = (typeof RUN_OPERATIONS)[number]

/** The part of a run that decides whether an operation fits. */
type FittingRun = Pick<Run, 'status' | 'dueAt' | 'reason'> &
  Partial<Pick<Run, 'awaits' | 'isInLine' | 'deadline' | 'isCanceledByRule' | 'resolution'>>

/**
 * Why an operation does not fit a run at `now`; null when it does. The store checks again in its
 * own transaction.
 */
export function findObstacle(operation: RunOperation, run: FittingRun, now: number): string | null {
  const { status, dueAt, reason, awaits = false, isInLine = false, resolution = null } = run
  switch (operation) {
    case 'cancel':
      return isFinished(status) ? `it is ${status} already` : null
    case 'retry':
      if (status === 'failed' || status === 'canceled') return findLostCause(run, now)
      return isFinished(status) ? `it is ${status}, there is nothing to continue from` : `it is ${status}, not finished`
    case 'resume':
    case 'restart':
      if (status !== 'waiting') return `it is ${status}, it does not wait for a person`
      if (dueAt !== null || awaits || isInLine) return 'it goes on by itself'
      return reason === PAUSED_REASON || reason === QUEUED_TICK_REASON
        ? `${reason}, it goes on by itself after that`
        : null
    case 'resolve':
      if (status !== 'failed') return `it is ${status}, it has not failed`
      return resolution === null ? null : 'it is resolved already'
    case 'unresolve':
      return resolution === null ? 'it is not resolved' : null
    default:
      return operation satisfies never
  }
}

/**
 * Why a failed or canceled run would end again at once if it were retried; null when it may help.
 */
export function findLostCause(run: FittingRun, now: number): string | null {
  const { status, reason, deadline = null, isCanceledByRule = false } = run
  if (status === 'canceled' && isCanceledByRule) {
    return `a rule of its workflow canceled it (${reason}), and would again; fork or replay it instead`
  }
  if (deadline === null || now < deadline || (status !== 'failed' && status !== 'canceled')) return null
  return `its \`timeout.run\` ended at ${isoTime(deadline)}; fork or replay it instead`
}

/** True when no pass follows, unless a person retries the run. */
export function isFinished(status: RunStatus): boolean {
  return status !== 'pending' && status !== 'running' && status !== 'waiting'
}

/** Selects runs; every part narrows. */
export interface RunFilter {
  status?: RunStatus
  statuses?: readonly RunStatus[]
  workflow?: string
  eventId?: string
  /** Account of `eventId`; every account when left out. */
  account?: string
  origin?: RunOrigin
  /** Runs that repeat, fork or follow this one. */
  originRun?: string
  /** Runs that this one invoked. */
  parentRun?: string
  /** Runs that only a person lets go on. */
  waitsForPerson?: true
  /** Failed runs whose error, as `name: message`, contains this text; ASCII letters in any case. */
  error?: string
  /** Failed runs whose failed step has this key, or this name. */
  step?: string
  /** Failed runs of the group with this id; see `groupFailure`. */
  failureGroup?: string
  /** Runs that have all of these tags. */
  tags?: Tag[]
  /** Failed runs that a person has resolved; false: those that nobody has. */
  resolved?: boolean
  /** Created at this moment or later, in epoch milliseconds. */
  since?: number
  /** Created before this moment, in epoch milliseconds. */
  until?: number
  /** Older than the run with this id: the last one of the page before. */
  before?: string
}
