import type { RetryOptions } from '../core/runs/retry.ts'
import type { AfterFailure, BatchContext, CauseValue, DebounceContext, FailureContext, RunContext } from './context.ts'
import type { KeyValue } from './event-keys.ts'
import type { AnyLimits, BatchOptions, DebounceOptions, LimitOptions, TimeoutOptions } from './limits.ts'
import type { EventOf, EventTrigger, EventTriggers, Trigger } from './trigger.ts'

/** Ends the unfinished runs of a workflow when an event says so. */
export interface CancelRule<On extends Trigger = Trigger> {
  /** Counts when it is stored after the run was made. */
  on: EventTrigger
  /**
   * For each key of `on` the value it must have, computed from what caused the run: its event, tick
   * or input. One that gives null leaves the run alone; one that throws parks it for a person.
   */
  where?: Record<string, (cause: CauseValue<On>) => KeyValue>
}

interface CommonOptions<On extends Trigger> extends LimitOptions<CauseValue<On>> {
  /** Unique; names the runs for ever. */
  id: string
  on: On
  /**
   * Runs only for events where this is true. Pure; one that throws parks the run where a person
   * sees it.
   */
  where?: (event: EventOf<On>) => boolean
  /** For each step, and for code outside steps. */
  retry?: RetryOptions
  timeout?: TimeoutOptions
}

export interface WorkflowOptions<On extends Trigger, Output> extends CommonOptions<On> {
  batch?: undefined
  debounce?: undefined
  /**
   * Any of these events ends a run that is not finished, at once. One that has not started is ended
   * when it would.
   */
  cancelOn?: CancelRule<On> | readonly CancelRule<On>[]
  run: (context: RunContext<On>) => Promise<Output> | Output
  /**
   * Follows a run that failed for good, as a run of its own with the same tools and retries. One
   * that fails itself is followed by none, and a canceled run by none either.
   */
  onFailure?: (context: FailureContext<On>) => unknown
}

export interface BatchWorkflowOptions<On extends EventTriggers, Output> extends CommonOptions<On> {
  batch: BatchOptions<EventOf<On>>
  debounce?: undefined
  run: (context: BatchContext<On>) => Promise<Output> | Output
  /** As of any other workflow; it gets the events of the run that failed. */
  onFailure?: (context: AfterFailure<BatchContext<On>>) => unknown
}

export interface DebounceWorkflowOptions<On extends EventTriggers, Output> extends CommonOptions<On> {
  debounce: DebounceOptions<EventOf<On>>
  batch?: undefined
  cancelOn?: CancelRule<On> | readonly CancelRule<On>[]
  run: (context: DebounceContext<On>) => Promise<Output> | Output
  onFailure?: (context: AfterFailure<DebounceContext<On>>) => unknown
}

/** Any rule, whatever the workflow runs on. */
export interface AnyCancelRule {
  on: EventTrigger
  where?: Record<string, (cause: never) => KeyValue>
}

/**
 * A workflow as its module gives it to the engine, which knows what its function is to be given.
 */
export interface Workflow<On extends Trigger = Trigger, Output = unknown> extends CommonOptions<On> {
  kind: 'workflow'
  batch?: BatchOptions<EventOf<On>> | undefined
  debounce?: DebounceOptions<EventOf<On>> | undefined
  cancelOn?: CancelRule<On> | readonly CancelRule<On>[]
  run: (context: never) => Promise<Output> | Output
  onFailure?: (context: never) => unknown
}

/** Any workflow, whatever it runs on. */
export interface AnyWorkflow extends Pick<Workflow, 'kind' | 'id' | 'on' | 'retry' | 'timeout'>, AnyLimits {
  where?: (event: never) => boolean
  cancelOn?: AnyCancelRule | readonly AnyCancelRule[]
  run: (context: never) => unknown
  onFailure?: (context: never) => unknown
  /** Hash of the module and of the project's files that it imports; set by the loader. */
  codeHash?: string
}
