import type { z } from 'zod'
import type { KeyValue } from './event-keys.ts'
import { declaredKeys } from './event-keys.ts'

/** An event type together with what the author relies on in its `data`. */
export interface EventDefinition<
  Type extends string = string,
  Data = unknown,
  Sent = unknown,
  Keys extends object = object,
> {
  kind: 'event'
  type: Type
  /** Takes what the service sends and gives what the author's code is handed. */
  data: z.ZodType<Data, Sent>
  /** Compute what waits and cancels match on. */
  keys: Record<string, (data: never) => KeyValue>
  /** Never there: carries the values of the keys for the types of `step`. */
  carries?: Keys
}

/**
 * Names an event type and states the shape of its `data`. The service documents none, so the author
 * says once what the workflow relies on; an event that does not fit parks its run where a person
 * sees it.
 *
 * `keys` are what `step.waitFor` and `cancelOn` can match on: pure functions of the data, kept as
 * an index. An event whose data does not fit, or where the function throws, is not found by its
 * key. To be called when the module is loaded, not within a run.
 */
export function defineEvent<
  const Type extends string,
  Schema extends z.ZodType,
  Values extends Record<string, KeyValue> = Record<never, never>,
>(
  type: Type,
  { data, keys }: { data: Schema; keys?: { [Name in keyof Values]: (data: z.output<Schema>) => Values[Name] } },
): EventDefinition<Type, z.output<Schema>, z.input<Schema>, { [Name in keyof Values]: NonNullable<Values[Name]> }> {
  const schema = data as unknown as z.ZodType<z.output<Schema>, z.input<Schema>>
  const definition = { kind: 'event', type, data: schema, keys: { ...keys } as EventDefinition['keys'] } as const
  declaredKeys.declare(definition)
  return definition
}
