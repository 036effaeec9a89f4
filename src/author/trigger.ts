import type { z } from 'zod'
import type { ReceivedEvent, ServiceEvent } from '../core/incoming/event.ts'
import type { CronTrigger } from '../core/runs/schedule.ts'
import type { Duration } from '../core/time.ts'
import { checkDefinition } from './check-calls.ts'
import type { EventDefinition } from './define-event.ts'

/** A trigger for invocations: `step.invoke` starts the workflow, with an input of this shape. */
export interface CallableTrigger<Schema extends z.ZodType = z.ZodType> {
  /** Tells it from other triggers. */
  kind: 'callable'
  /** Schema of the input. */
  input: Schema
}

/**
 * For a workflow's `on`: `step.invoke` starts it, with an input that fits `schema`. Throws
 * `invalid_workflow` for what is no zod schema.
 */
export function callable<Schema extends z.ZodType>(schema: Schema): CallableTrigger<Schema> {
  checkDefinition('callable', schema)
  return { kind: 'callable', input: schema }
}

/**
 * One kind of events: a type such as `file.created`, a family such as `file.*`, `*`, or a
 * definition.
 */
export type EventTrigger = string | EventDefinition

/** One or several kinds of events. */
export type EventTriggers = EventTrigger | readonly EventTrigger[]

/** The start of a workflow's runs: events, a cron line, or an invocation. */
export type Trigger = EventTriggers | CronTrigger | CallableTrigger

/** The event that a trigger gives to the author's code. */
export type EventOf<On> = On extends CronTrigger | CallableTrigger
  ? never
  : On extends EventDefinition<infer Type, infer Data>
    ? ReceivedEvent<Type, Data>
    : On extends readonly (infer Each)[]
      ? EventOf<Each>
      : On extends string
        ? ReceivedEvent<string extends On ? string : On extends `${string}*` ? string : On>
        : never

/** The event that `step.waitFor` and `step.receive` return. */
export type AwaitedEvent<On extends EventTrigger> =
  On extends EventDefinition<infer Type, infer Data>
    ? ServiceEvent<Type, Data>
    : On extends string
      ? ServiceEvent<On extends `${string}*` ? string : On>
      : never

/** The event triggers of `on`; none for a cron line or an invocation. */
export function listTriggers(on: Trigger): readonly EventTrigger[] {
  if (typeof on === 'string') return [on]
  if (!('kind' in on)) return on
  return on.kind === 'event' ? [on] : []
}

export function isDefinition(trigger: EventTrigger): trigger is EventDefinition {
  return typeof trigger === 'object'
}

/**
 * The input with which `step.invoke` starts a workflow: a callable one's own, or an event's data.
 */
export type InputOf<On> = On extends CronTrigger
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

/** Options of `step.invoke`. */
export interface InvokeOptions {
  /**
   * Longest time for the other run, from the step's start; then it is canceled, and the step throws
   * `StepError`. Counts also after the end of this run. Default: none.
   */
  timeout?: Duration
  /**
   * The fate of the other run where this one fails, times out or is canceled before. `cancel`:
   * canceled in the same commit, with all that it invoked. `abandon`: it goes on. Default `cancel`.
   *
   * Where this run completes, the other one goes on.
   */
  parentClosePolicy?: 'cancel' | 'abandon'
}

/** The part of a workflow that `step.invoke` needs. */
export type Invocable<On extends Trigger = Trigger, Output = unknown> = {
  kind: 'workflow'
  id: string
  on: On
  run: (context: never) => Output
}
