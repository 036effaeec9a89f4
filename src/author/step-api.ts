import type { z } from 'zod'
import type { ServiceEvent } from '../core/incoming/event.ts'
import type { RetryOptions } from '../core/runs/retry.ts'
import type { CronTrigger } from '../core/runs/schedule.ts'
import type { Effect, StepName } from '../core/runs/step.ts'
import type { Duration } from '../core/time.ts'
import type { EventDefinition } from './define-event.ts'
import type { CallableTrigger, Trigger } from './trigger.ts'

export interface StepOptions {
  retry?: RetryOptions
  /** Longest time for one attempt; default 5m, or the workflow's `timeout.step`. */
  timeout?: Duration
  /** Default `write`. */
  effect?: Effect
  /** What it acts on, for the ledger. */
  target?: string
}

export interface OnceStepOptions extends StepOptions {
  /**
   * At most once: its start is on disk before `fn` begins. After a crash it throws `Interrupted`
   * instead of running again, and neither a failure nor a timeout is tried again.
   */
  once?: boolean
}

/**
 * What invokes a workflow: the input of a callable one; for one that runs on events, what its event
 * is to say.
 */
type InputOf<On> = On extends CronTrigger
  ? never
  : On extends CallableTrigger<infer Schema>
    ? z.input<Schema>
    : On extends EventDefinition<infer Type, unknown, infer Input>
      ? { data: Input; id?: string; type?: Type; created?: string }
      : On extends readonly (infer Each)[]
        ? RequireType<Each, InputOf<Each>>
        : On extends `${string}*`
          ? { type: string; data: Record<string, unknown>; id?: string; created?: string }
          : On extends string
            ? { data: Record<string, unknown>; id?: string; type?: On; created?: string }
            : never

/** Of several types, one must be named. */
type RequireType<Each, Input> =
  Each extends EventDefinition<infer Type> ? Input & { type: Type } : Input & { type: Each }

type InvokeArguments<On> =
  undefined extends InputOf<On>
    ? [input?: InputOf<On>, options?: { timeout?: Duration }]
    : [input: InputOf<On>, options?: { timeout?: Duration }]

interface WaitOptions {
  /** From now; then the step gives null. */
  timeout: Duration
  /**
   * `now` (default): events stored after the step began to wait. `run`: also those that were stored
   * before, if after the run was made; the run's own event never counts.
   */
  since?: 'now' | 'run'
}

/** What the function of a step is told. */
export interface StepContext {
  /** Counted from 1. */
  attempt: number
  /**
   * The same in every attempt, also after a crash: hand it to an API that takes one, and the effect
   * happens once.
   */
  idempotencyKey: string
  /** Aborts when the attempt times out, the run is canceled, or the process stops. */
  signal: AbortSignal
}

/** The durable verbs. A finished step never runs again: a replay gives back its result. */
export interface StepApi {
  /**
   * Runs `fn` once and keeps its result as JSON. After its last failed attempt it throws a
   * `StepError`. In a loop, give `[name, key]` instead of a name, so that each turn keeps its own
   * result when the list changes.
   */
  run<T>(name: StepName, fn: (context: StepContext) => T | Promise<T>, options?: OnceStepOptions): Promise<T>
  /**
   * A step `[name, key]` for each item, at most `parallel` (default 8) at work, and their results
   * in the order of the items. An item that waits for its next attempt holds up none of the others.
   * When items fail for good, those at work are finished and the first failure is thrown.
   */
  map<Item, T>(
    name: string,
    items: Iterable<Item>,
    keyOf: (item: Item, index: number) => string | number,
    fn: (item: Item, context: StepContext) => T | Promise<T>,
    options?: OnceStepOptions & { parallel?: number },
  ): Promise<T[]>
  /**
   * Frees the worker until an event of the account comes, and gives it back; null when none has
   * come in time. `where` names keys of its definition and the values that they must all have;
   * without it any event of the type will do. The event is not used up: it still starts its runs,
   * and others that wait for it get it too.
   */
  waitFor<Type extends string, Data, Keys extends object>(
    name: StepName,
    options: WaitOptions & { on: EventDefinition<Type, Data, unknown, Keys>; where?: Partial<Keys> },
  ): Promise<ServiceEvent<Type, Data> | null>
  waitFor<const Type extends string>(
    name: StepName,
    options: WaitOptions & { on: Type },
  ): Promise<ServiceEvent<Type extends `${string}*` ? string : Type> | null>
  /**
   * Makes an event of one's own, once: it starts its workflows like one that was delivered. Its id
   * is the same in every attempt. 1 MiB at most.
   */
  send<Type extends string, Input>(
    name: StepName,
    type: EventDefinition<Type, unknown, Input>,
    data: NoInfer<Input>,
  ): Promise<{ id: string }>
  send(name: StepName, type: string, data: Record<string, unknown>): Promise<{ id: string }>
  /**
   * Runs another workflow, once, and gives back its output. The run that waits holds no slot.
   * Throws a `StepError` when the other one fails, is skipped or canceled. After `timeout` the
   * other one is canceled; so it is when this run is.
   */
  invoke<On extends Trigger, Output>(
    name: StepName,
    workflow: Invocable<On, Output>,
    ...input: InvokeArguments<On>
  ): Promise<Awaited<Output>>
  /** Frees the worker and goes on after `duration`, restarts or not. */
  sleep(name: StepName, duration: Duration): Promise<void>
  sleepUntil(name: StepName, moment: Date | number): Promise<void>
}

/** A workflow as far as `step.invoke` looks at it. */
export type Invocable<On extends Trigger = Trigger, Output = unknown> = {
  kind: 'workflow'
  id: string
  on: On
  run: (context: never) => Output
}
