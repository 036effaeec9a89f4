import { z } from 'zod'
import type { ReceivedEvent } from '../core/incoming/event.ts'
import type { CronTrigger } from '../core/runs/schedule.ts'
import type { EventDefinition } from './define-event.ts'
import type { KeyedEvent, KeyValue } from './event-keys.ts'

/** Starts runs of a workflow by hand or by `step.invoke`, with an input of this shape. */
export interface CallableTrigger<Schema extends z.ZodType = z.ZodType> {
  kind: 'callable'
  input: Schema
}

/** For a workflow's `on`: it runs when another one invokes it, with an input that fits `schema`. */
export function callable<Schema extends z.ZodType>(schema: Schema): CallableTrigger<Schema> {
  return { kind: 'callable', input: schema }
}

/** What an author writes to name events: a type, or a definition. */
export const eventTrigger = z.union([z.string().min(1), z.looseObject({ kind: z.literal('event') })])

const cancelRule = z
  .strictObject({
    on: eventTrigger,
    where: z
      .record(
        z.string(),
        z.custom<(cause: never) => KeyValue>((value) => typeof value === 'function'),
      )
      .optional(),
  })
  .superRefine(({ on, where = {} }, context) => {
    const keys = typeof on === 'string' ? {} : (on as unknown as KeyedEvent).keys
    for (const name of Object.keys(where)) {
      if (!(name in keys)) context.addIssue(`where: "${name}" is not a key of its event; declare it in defineEvent`)
    }
  })

/** Checks of a workflow's `cancelOn`: one rule, or a list of them. */
export const cancelRules = z
  .preprocess(
    (rules) => (Array.isArray(rules) || rules === undefined ? rules : [rules]),
    z.array(cancelRule).optional(),
  )
  .optional()

export type EventTrigger = string | EventDefinition

export type EventTriggers = EventTrigger | readonly EventTrigger[]

/**
 * What starts a workflow: an event type (or `file.*`, `*`), an event definition, a list of them, a
 * cron line, or another workflow (`callable`).
 */
export type Trigger = EventTriggers | CronTrigger | CallableTrigger

/** The event that an author's code gets for a trigger. */
export type EventOf<On> = On extends CronTrigger | CallableTrigger
  ? never
  : On extends EventDefinition<infer Type, infer Data>
    ? ReceivedEvent<Type, Data>
    : On extends readonly (infer Each)[]
      ? EventOf<Each>
      : On extends string
        ? ReceivedEvent<string extends On ? string : On extends `${string}*` ? string : On>
        : never

export function listTriggers(on: Trigger): readonly EventTrigger[] {
  if (typeof on === 'string') return [on]
  if (!('kind' in on)) return on
  return on.kind === 'event' ? [on] : []
}

export function isDefinition(trigger: EventTrigger): trigger is EventDefinition {
  return typeof trigger === 'object'
}
