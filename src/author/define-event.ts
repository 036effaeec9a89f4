import type { z } from 'zod'
import type { FileEntry } from '../core/service/file.ts'
import { checkDefinition } from './check-calls.ts'
import { declaredKeys, type EventFile, type KeyValue } from './event-keys.ts'

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
  /** The file that an event tells of; left out: none is known. */
  file?: (data: never) => EventFile | null
  /** Makes the `data` of an event that was lost; left out: a loss is only reported. */
  fromFile?: (entry: FileEntry) => unknown
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
 * `file` and `fromFile` serve the comparison of storages with events, `reconcile` in the project
 * file. Without `file`, no loss of this type can be found.
 *
 * Throws `invalid_workflow` for a shape that is not valid. The name of a key has 1 to 50 letters,
 * digits, `_` and `-`.
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
    /** The file that an event tells of; null: of none. A pure function. Default: not known. */
    file?: (data: z.output<Schema>) => EventFile | null
    /**
     * Makes the `data` of a lost event from the file, as the service would have sent it. A pure
     * function. Default: a lost event is only reported.
     */
    fromFile?: (entry: FileEntry) => z.input<Schema>
  },
): EventDefinition<Type, z.output<Schema>, z.input<Schema>, { [Name in keyof Values]: NonNullable<Values[Name]> }> {
  checkDefinition('defineEvent', type, shape)
  const schema = shape.data as unknown as z.ZodType<z.output<Schema>, z.input<Schema>>
  const { file, fromFile } = shape
  const definition = {
    kind: 'event' as const,
    type,
    data: schema,
    keys: { ...shape.keys } as EventDefinition['keys'],
    ...(file === undefined ? {} : { file: file as EventDefinition['file'] & {} }),
    ...(fromFile === undefined ? {} : { fromFile }),
  }
  declaredKeys.declare(definition)
  return definition
}
