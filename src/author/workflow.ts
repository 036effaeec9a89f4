import type { TagValue } from '../core/runs/annotations/tags.ts'
import type { RetryOptions } from '../core/runs/retry.ts'
import type { Duration } from '../core/time.ts'
import type { AfterFailure, BatchContext, CauseValue, DebounceContext, RunContext } from './context.ts'
import type { KeyValue } from './event-keys.ts'
import type {
  AnyLimits,
  BatchOptions,
  DebounceOptions,
  KeyedRun,
  LimitOptions,
  RunLimits,
  TimeoutOptions,
  WorkflowGuard,
} from './limits.ts'
import type { EventOf, EventTrigger, EventTriggers, Trigger } from './trigger.ts'

/** A rule that cancels unfinished runs when an event arrives. */
export interface CancelRule<On extends Trigger = Trigger> {
  /** The events of the rule; they count when stored after the run was created. */
  on: EventTrigger
  /**
   * The value that each named key of `on` must have, computed from the run's event, tick or input.
   * Default: any event counts.
   *
   * Keys that are left out may have any value. A function that returns null leaves the run alone;
   * one that throws makes it wait for a person.
   */
  where?: Record<string, (cause: CauseValue<On>) => KeyValue>
}

interface CommonOptions<On extends Trigger> extends LimitOptions<CauseValue<On>> {
  /**
   * Unique among workflows: words of a-z and 0-9 joined by `-`, at most 80 characters. Runs are
   * stored under it, so do not change it.
   */
  id: string
  /**
   * The start of its runs: event types, event definitions, `cron(…)` or `callable(…)`.
   *
   * `file.*` is a family and `*` every event. A list starts a run for an event of any of its kinds.
   */
  on: On
  /**
   * Narrows `on`: true runs the code, false leaves the run `skipped`. Default: all events.
   *
   * A pure function of the event. One that throws makes the run wait for a person.
   */
  where?: (event: EventOf<On>) => boolean
  /**
   * Short words of a run, such as its customer, by which people find it: `runs list --tag
   * customer=acme`. At most 10, each name and value up to 64 characters. Default: none.
   *
   * A pure function of the event, tick or input. A value of null, undefined or '' leaves its tag
   * out. One that throws, or returns what is no tag, makes the run wait for a person.
   */
  tags?: (cause: CauseValue<On>, run: KeyedRun) => Record<string, TagValue | null | undefined>
  /** Retries of each step, unless it sets its own, and of code outside steps. */
  retry?: RetryOptions
  /** Time limits of the run and its steps. */
  timeout?: TimeoutOptions
  /** The most that it expects to delete and write. Default: `guard.workflow` of the project. */
  guard?: WorkflowGuard
  /** Bounds on each of its runs. Default: `limits` of the project. */
  limits?: RunLimits
}

/** The argument of `run`. A batch has a size, a debounce has a silence, and others have neither. */
type ContextOf<On extends Trigger, Size, Silence> = [Size] extends [never]
  ? [Silence] extends [never]
    ? RunContext<On>
    : DebounceContext<On>
  : BatchContext<On>

/** The triggers that a workflow may have: events alone where it gathers them. */
export type StartOf<Size, Silence> = [Size | Silence] extends [never] ? Trigger : EventTriggers

/** The silence of a debounce. Beside a batch, the compiler shows the sentence. */
export type SilenceBeside<Size> = [Size] extends [never] ? Duration : 'cannot be combined with `batch`'

/** Options of `defineWorkflow`. */
export interface WorkflowOptions<
  On extends Trigger,
  Output,
  Size extends number = never,
  Silence extends SilenceBeside<Size> = never,
> extends CommonOptions<On> {
  /** Gathers events into one run, which gets `events`. Default: a run for each event. */
  batch?: BatchOptions<EventOf<On>, Size>
  /**
   * Folds events in quick succession into one run, which gets the newest `event` and `folded`. Not
   * beside `batch`. Default: a run for each event.
   */
  debounce?: DebounceOptions<EventOf<On>, Silence>
  /**
   * Events that cancel an unfinished run at once. A run that has not started is canceled instead of
   * starting. Not beside `batch`, whose runs have several events. Default: none.
   */
  cancelOn?: [Size] extends [never]
    ? CancelRule<On> | readonly CancelRule<On>[]
    : 'cannot be combined with `batch`: its runs have several events'
  /**
   * The code. It starts again at its top in each pass, and finished steps return their kept
   * results.
   *
   * Its result is kept as JSON, at most 32 MiB. An error that it does not catch is retried by
   * `retry`, then fails the run.
   */
  run: (context: ContextOf<On, Size, Silence>) => Promise<Output> | Output
  /**
   * Runs after a run that failed for good, as a run of its own with the same tools and retries.
   *
   * A canceled run gets none, and neither does a failed run of `onFailure` itself.
   */
  onFailure?: (context: AfterFailure<ContextOf<On, Size, Silence>>) => unknown
}

/** A rule of any workflow, as the engine sees it. */
export interface AnyCancelRule {
  on: EventTrigger
  where?: Record<string, (cause: never) => KeyValue>
}

/**
 * A workflow as `defineWorkflow` returns it and its module exports it. Its options are those it was
 * defined with.
 */
export interface Workflow<On extends Trigger = Trigger, Output = unknown> extends CommonOptions<On> {
  /** Tells workflows from other exports. */
  kind: 'workflow'
  /** Gathers events into one run; see `BatchOptions`. */
  batch?: BatchOptions<EventOf<On>> | undefined
  /** Folds events in quick succession into one run; see `DebounceOptions`. */
  debounce?: DebounceOptions<EventOf<On>> | undefined
  /** Events that cancel an unfinished run. */
  cancelOn?: CancelRule<On> | readonly CancelRule<On>[]
  /** The code. */
  run: (context: never) => Promise<Output> | Output
  /** Runs after a run that failed for good. */
  onFailure?: (context: never) => unknown
}

/** Any workflow, as the engine sees it. */
export interface AnyWorkflow
  extends Pick<Workflow, 'kind' | 'id' | 'on' | 'retry' | 'timeout' | 'guard' | 'limits'>,
    AnyLimits {
  where?: (event: never) => boolean
  tags?: (cause: never, run: KeyedRun) => unknown
  cancelOn?: AnyCancelRule | readonly AnyCancelRule[]
  run: (context: never) => unknown
  onFailure?: (context: never) => unknown
  /** Hash of the module and the project's files that it imports; set by the loader. */
  codeHash?: string
}
