import { UpshotError } from '../errors.ts'
import { type EventNumber, matchType } from '../incoming/event.ts'
import { isThenable } from '../thenable.ts'
import { findTextFault, shorten } from './step.ts'

/** How far events are matched for one key of a type, by one version of its functions. */
export interface MatchCursor {
  id: number
  type: string
  /** Names of keys joined by `+`; empty: any event of the type. */
  name: string
  version: string
  stream: number
  /** Number (`seq`) of the last event of its stream that was matched. */
  position: number
  /** True while a step or a run waits for this key. */
  isOpen: boolean
}

export interface NumberedEvent extends EventNumber {
  id: string
  account: string
  type: string
  body: string
}

export interface EventKey {
  cursor: number
  seq: number
  account: string
  value: string
  /** Id of the event, for the reason of the runs that it cancels. */
  event: string
}

/** The keys of consecutive events of a stream, for cursors at the same position. */
export interface MatchBatch {
  stream: number
  /** Cursors at `from`; one that another process has moved is skipped. */
  cursors: readonly Pick<MatchCursor, 'id' | 'type' | 'name'>[]
  /** Number of the last event before the batch. */
  from: number
  /** Number of the last event in the batch. */
  to: number
  /** In the order of the events. */
  keys: readonly EventKey[]
}

export interface MatchResult {
  /** Waits that its events have ended. */
  resolved: number
  canceled: { run: string; workflow: string; reason: string }[]
}

/** Event numbers that one batch spans, so that reading them delays nothing else. */
const BATCH_EVENTS = 1_000

/**
 * Groups the cursors that lag furthest. Their batch ends where the next cursor of the same stream
 * stands. `newest` is by stream. Null when no cursor lags.
 */
export function planBatch<C extends Pick<MatchCursor, 'stream' | 'position'>>(
  cursors: readonly C[],
  newest: ReadonlyMap<number, number>,
): { group: C[]; stream: number; from: number; to: number } | null {
  const lag = ({ stream, position }: C) => (newest.get(stream) ?? 0) - position
  const [last, ...others] = cursors.filter((cursor) => lag(cursor) > 0).toSorted((a, b) => lag(b) - lag(a))
  if (!last) return null
  const { stream, position: from } = last
  const group = [last, ...others.filter((cursor) => cursor.stream === stream && cursor.position === from)]
  const ahead = others.filter((cursor) => cursor.stream === stream && cursor.position > from)
  const ends = [newest.get(stream) ?? 0, from + BATCH_EVENTS, ...ahead.map(({ position }) => position)]
  return { group, stream, from, to: Math.min(...ends) }
}

/** Characters of a key value; longer ones are stored as a hash. */
const MAX_VALUE = 200

/**
 * The key names and value that a wait's `where` matches. Throws `invalid_workflow` for a value that
 * is neither text nor a number.
 */
export function planMatch(where: Record<string, unknown> = {}): { name: string; value: string } {
  const names = Object.keys(where).sort()
  return { name: names.join('+'), value: joinValues(names.map((name) => keyText(where[name], name))) }
}

/**
 * Text of one key value; 7 and "7" are equal. Throws `invalid_workflow` for anything else than text
 * or a finite number.
 */
export function keyText(value: unknown, name: string): string {
  const text = typeof value === 'number' && Number.isFinite(value) ? String(value) : value
  if (typeof text !== 'string') {
    throw new UpshotError('invalid_workflow', `The key "${name}" must be text or a number, not ${describe(value)}.`)
  }
  const fault = findTextFault(text)
  if (fault !== null) throw new UpshotError('invalid_workflow', `The key "${name}" ${fault}.`)
  return shorten(text, MAX_VALUE)
}

function describe(value: unknown): string {
  if (isThenable(value)) return 'a promise: its function must be synchronous'
  return value === null ? 'null' : typeof value
}

/** One value of several keys, in the order of their names. */
export function joinValues(texts: readonly string[]): string {
  return texts.length === 1 ? (texts[0] ?? '') : texts.length === 0 ? '' : shorten(JSON.stringify(texts), MAX_VALUE)
}

/** Computes a cursor's key from an event's `data`; null: none. Throws when a key function does. */
export type ReadKeys = (data: unknown) => string | null

/**
 * The event's key for a cursor; null when the event is of another type or has no such key. Throws
 * `conflict` when its body is pruned.
 */
export function computeKey(
  cursor: Pick<MatchCursor, 'id' | 'type'>,
  event: NumberedEvent,
  read: ReadKeys,
): EventKey | null {
  if (!matchType(cursor.type, event.type)) return null
  if (event.body === '') throw new UpshotError('conflict', `The body of event ${event.id} is pruned.`)
  const value = read(JSON.parse(event.body).data)
  return value === null ? null : { cursor: cursor.id, seq: event.seq, account: event.account, value, event: event.id }
}
