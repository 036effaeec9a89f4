import { hash } from 'node:crypto'
import { z } from 'zod'
import { UpshotError } from '../errors.ts'
import { matchType } from '../incoming/event.ts'

/** What a key function gives for an event; null or undefined: the event has no such key. */
export type KeyValue = string | number | null | undefined

/** An event definition as far as its keys go. */
export interface KeyedEvent {
  type: string
  data: z.ZodType
  keys: Record<string, (data: never) => KeyValue>
}

/** Starts runs of a workflow by hand or by `step.invoke`, with an input of this shape. */
export interface CallableTrigger<Schema extends z.ZodType = z.ZodType> {
  kind: 'callable'
  input: Schema
}

/** For a workflow's `on`: it runs when another one invokes it, with an input that fits `schema`. */
export function callable<Schema extends z.ZodType>(schema: Schema): CallableTrigger<Schema> {
  return { kind: 'callable', input: schema }
}

/** What a step, or a run's `cancelOn`, waits for: events of a type whose keys have a value. */
export interface EventWait {
  account: string
  /** A type, or a pattern such as `file.*`. */
  type: string
  /** Names of keys joined by `+`; empty: any event of the type. */
  name: string
  value: string
  /** Of the key functions that this process has: {@link KeyRegistry.version}. */
  version: string
  /** `now`: events stored after the wait; `run`: also those stored since the run was made. */
  since: 'now' | 'run'
  /** When it began. */
  at: number
}

/** A run that a step starts. */
export interface Invocation {
  run: string
  workflow: string
  account: string
  /** JSON text. */
  input: string
  createdAt: number
}

/** An event that a step makes, with the runs it starts. */
export interface SentEvent {
  id: string
  type: string
  account: string
  /** Epoch milliseconds. */
  createdAt: number
  body: string
  workflows: readonly string[]
}

/** What is written in the commit of a step's checkpoint. */
export interface Alongside {
  /** For the run's row: of the code that writes its journal from here. */
  codeHash?: string
  /** The result, where it is too large for the row. */
  packed?: Uint8Array
  wait?: EventWait
  invoke?: Invocation
  send?: SentEvent
  /** The step waits no longer. */
  isSettled?: true
  /** Ends a run, with what it invoked. */
  cancel?: { run: string; reason: string; now: number }
}

/** How far the events have been matched for one key of a type by one version of its functions. */
export interface Watch {
  id: number
  type: string
  name: string
  version: string
  /** Number of the last event that was looked at. */
  cursor: number
  /** True while a step or run waits for this key. */
  isOpen: boolean
}

/** An event on its way through the matching stage. */
export interface NumberedEvent {
  seq: number
  id: string
  account: string
  type: string
  body: string
}

/** A key of an event, for one watch. */
export interface EventKey {
  watch: number
  seq: number
  account: string
  value: string
  /** For the reason of what it cancels. */
  event: string
}

export interface MatchBatch {
  /** Those that stand at `from`; one that another process has moved meanwhile is left out. */
  watches: readonly Pick<Watch, 'id' | 'type' | 'name'>[]
  from: number
  /** Every event up to here is in `keys` if it has one. */
  to: number
  /** In the order of the events. */
  keys: readonly EventKey[]
}

export interface MatchResult {
  /** Runs that go on now. */
  woken: number
  canceled: { run: string; workflow: string; reason: string }[]
}

/** Numbers of events that one batch spans: reading them holds up nothing else for long. */
export const BATCH_EVENTS = 1_000

/** The watches that lag behind most, and how far they may go at once: no further than where the next ones stand. */
export function planBatch<W extends Pick<Watch, 'cursor'>>(
  watches: readonly W[],
  newest: number,
): { group: W[]; from: number; to: number } | null {
  const from = Math.min(...watches.map((watch) => watch.cursor))
  if (watches.length === 0 || from >= newest) return null
  const ahead = watches.map((watch) => watch.cursor).filter((cursor) => cursor > from)
  const to = Math.min(newest, from + BATCH_EVENTS, ...ahead)
  return { group: watches.filter((watch) => watch.cursor === from), from, to }
}

/** Longer values are kept as their hash. */
const LONGEST_VALUE = 200

/** The name and value that a wait's `where` is matched by; throws `invalid_workflow` for a value that no key can have. */
export function planMatch(where: Record<string, unknown> = {}): { name: string; value: string } {
  const names = Object.keys(where).sort()
  return { name: names.join('+'), value: joinValues(names.map((name) => keyText(where[name], name))) }
}

/** Every key has text of its own; 7 and "7" are the same. Throws on what is neither text nor a number. */
function keyText(value: unknown, name: string): string {
  const text = typeof value === 'number' && Number.isFinite(value) ? String(value) : value
  if (typeof text !== 'string') {
    throw new UpshotError('invalid_workflow', `The key "${name}" must be text or a number, not ${describe(value)}.`)
  }
  return text.length <= LONGEST_VALUE ? text : `sha256:${hash('sha256', text, 'hex')}`
}

function describe(value: unknown): string {
  return value === null ? 'null' : typeof value
}

function joinValues(texts: readonly string[]): string {
  return texts.length === 1 ? (texts[0] ?? '') : texts.length === 0 ? '' : JSON.stringify(texts)
}

/** The functions of one watch. Gives the value of an event's `data`; null where it has none; throws where they fail. */
export type ReadKeys = (data: unknown) => string | null

interface KeyEntry {
  definition: KeyedEvent
  read: (data: never) => KeyValue
  version: string
}

/** Declared keys by type and name. */
export type DeclaredKeys = ReadonlyMap<string, KeyEntry>

/**
 * The keys that the modules of this process declare. An event is matched long after the module was loaded and before any run of it
 * is replayed, so its functions must be known by type and name. The newest declaration holds.
 */
export class KeyRegistry {
  #entries = new Map<string, KeyEntry>()

  declare(definition: KeyedEvent): void {
    for (const [name, read] of Object.entries(definition.keys)) {
      if (!/^[\w-]{1,50}$/.test(name)) {
        throw new UpshotError('invalid_workflow', `"${name}" is no name of a key: letters, digits, "_" and "-" only.`)
      }
      const version = hash('sha256', String(read), 'hex').slice(0, 16)
      this.#entries.set(entryKey(definition.type, name), { definition, read, version })
    }
  }

  /** Tells one set of functions from another, also in another process; null where one is not declared. */
  version(type: string, name: string): string | null {
    const entries = this.#find(type, name)
    return entries?.map((entry) => entry.version).join('+') ?? null
  }

  /** What computes the keys of a watch; null where one is not declared. */
  reader(type: string, name: string): ReadKeys | null {
    const entries = this.#find(type, name)
    if (!entries) return null
    return (data) => {
      const values = entries.map(({ definition, read }) => read(definition.data.parse(data) as never))
      if (values.some((value) => value === null || value === undefined)) return null
      const names = listNames(name)
      return joinValues(values.map((value, index) => keyText(value, names[index] ?? '')))
    }
  }

  /** What is declared now, to be put back by {@link restore} or compared by {@link declaredSince}. */
  snapshot(): DeclaredKeys {
    return new Map(this.#entries)
  }

  restore(snapshot: DeclaredKeys): void {
    this.#entries = new Map(snapshot)
  }

  /** The keys that have been declared, or declared anew, since a snapshot. */
  declaredSince(snapshot: DeclaredKeys): DeclaredKeys {
    return new Map([...this.#entries].filter(([key, entry]) => snapshot.get(key) !== entry))
  }

  #find(type: string, name: string): KeyEntry[] | null {
    const entries = listNames(name).map((each) => this.#entries.get(entryKey(type, each)))
    return entries.every((entry) => entry !== undefined) ? entries : null
  }
}

function entryKey(type: string, name: string): string {
  return `${type} ${name}`
}

function listNames(name: string): string[] {
  return name === '' ? [] : name.split('+')
}

/** A key that two sets of declarations give different functions, as `type key`; null when there is none. */
export function findClash(some: DeclaredKeys, others: DeclaredKeys): string | null {
  for (const [key, { version }] of some) {
    const other = others.get(key)
    if (other && other.version !== version) return key
  }
  return null
}

/** The keys of an event for a watch; null: it is none of its events, or has no such key. */
export function computeKey(watch: Pick<Watch, 'id' | 'type'>, event: NumberedEvent, read: ReadKeys): EventKey | null {
  if (!matchType(watch.type, event.type)) return null
  if (event.body === '') throw new UpshotError('conflict', `The body of event ${event.id} is pruned.`)
  const value = read(JSON.parse(event.body).data)
  return value === null ? null : { watch: watch.id, seq: event.seq, account: event.account, value, event: event.id }
}

/** The one of this process, which `defineEvent` writes to. */
export const declaredKeys = new KeyRegistry()

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
      if (!(name in keys)) context.addIssue(`where: "${name}" is no key of its event; name it in defineEvent`)
    }
  })

/** Checks of a workflow's `cancelOn`: one rule, or a list of them. */
export const cancelRules = z
  .preprocess(
    (rules) => (Array.isArray(rules) || rules === undefined ? rules : [rules]),
    z.array(cancelRule).optional(),
  )
  .optional()
