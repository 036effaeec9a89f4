import type { z } from 'zod'
import type { KeyValue } from './event-keys.ts'
import { declaredKeys } from './event-keys.ts'

/** An event type with the shape that the author relies on. Made by `defineEvent`. */
export interface EventDefinition<
  Type extends string = string,
  Data = unknown,
  Sent = unknown,
  Keys extends object = object,
> {
  /** Tells definitions from other triggers. */
  kind: 'event'
  /** The event type, such as `file.created`. */
  type: Type
  /** Schema of `data`: parses what the service sends into what the author's code gets. */
  data: z.ZodType<Data, Sent>
  /** Functions that compute the keys of an event. */
  keys: Record<string, (data: never) => KeyValue>
  /** Never set: carries the types of the key values. */
  carries?: Keys
}

/**
 * Names an event type and the shape of its `data`, which the service does not document. Call it
 * while the module is loaded, not within a run.
 *
 * `data` is a zod schema. An event that does not fit starts no code: its run waits for a person.
 *
 * `keys` are the values that `step.waitFor` and `cancelOn` can match. They are pure functions of
 * `data` and return text or a number; null or undefined means no key. An event whose data does not
 * fit, or whose function throws, is not found by its key.
 *
 * Throws `invalid_workflow` for a key name other than 1 to 50 letters, digits, `_` and `-`.
 */
export function defineEvent<
  const Type extends string,
  Schema extends z.ZodType,
  Values extends Record<string, KeyValue> = Record<never, never>,
>(
  type: Type,
  shape: {
    /** Parses the event's `data`. */
    data: Schema
    /** Functions that compute the keys of an event, by name. Default: none. */
    keys?: { [Name in keyof Values]: (data: z.output<Schema>) => Values[Name] }
  },
): EventDefinition<Type, z.output<Schema>, z.input<Schema>, { [Name in keyof Values]: NonNullable<Values[Name]> }> {
  const schema = shape.data as unknown as z.ZodType<z.output<Schema>, z.input<Schema>>
  const definition = { kind: 'event', type, data: schema, keys: { ...shape.keys } as EventDefinition['keys'] } as const
  declaredKeys.declare(definition)
  return definition
}
