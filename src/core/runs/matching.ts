import { hash } from 'node:crypto'
import { UpshotError } from '../errors.ts'
import { matchType } from '../incoming/event.ts'

/** How far the events have been matched for one key of a type by one version of its functions. */
export interface MatchCursor {
  id: number
  type: string
  name: string
  version: string
  /** Number of the last event that was looked at. */
  position: number
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

/** A key of an event, for one cursor. */
export interface EventKey {
  cursor: number
  seq: number
  account: string
  value: string
  /** For the reason of what it cancels. */
  event: string
}

export interface MatchBatch {
  /** Those that stand at `from`; one that another process has moved meanwhile is left out. */
  cursors: readonly Pick<MatchCursor, 'id' | 'type' | 'name'>[]
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
const BATCH_EVENTS = 1_000

/**
 * The cursors that lag behind most, and how far they may go at once: no further than where the next
 * ones stand.
 */
export function planBatch<W extends Pick<MatchCursor, 'position'>>(
  cursors: readonly W[],
  newest: number,
): { group: W[]; from: number; to: number } | null {
  const from = Math.min(...cursors.map((cursor) => cursor.position))
  if (cursors.length === 0 || from >= newest) return null
  const ahead = cursors.map((cursor) => cursor.position).filter((cursor) => cursor > from)
  const to = Math.min(newest, from + BATCH_EVENTS, ...ahead)
  return { group: cursors.filter((cursor) => cursor.position === from), from, to }
}

/** Longer values are kept as their hash. */
const MAX_VALUE = 200

/**
 * The name and value that a wait's `where` is matched by; throws `invalid_workflow` for a value
 * that no key can have.
 */
export function planMatch(where: Record<string, unknown> = {}): { name: string; value: string } {
  const names = Object.keys(where).sort()
  return { name: names.join('+'), value: joinValues(names.map((name) => keyText(where[name], name))) }
}

/**
 * Every key has text of its own; 7 and "7" are the same. Throws on what is neither text nor a
 * number.
 */
export function keyText(value: unknown, name: string): string {
  const text = typeof value === 'number' && Number.isFinite(value) ? String(value) : value
  if (typeof text !== 'string') {
    throw new UpshotError('invalid_workflow', `The key "${name}" must be text or a number, not ${describe(value)}.`)
  }
  return text.length <= MAX_VALUE ? text : `sha256:${hash('sha256', text, 'hex')}`
}

function describe(value: unknown): string {
  return value === null ? 'null' : typeof value
}

export function joinValues(texts: readonly string[]): string {
  return texts.length === 1 ? (texts[0] ?? '') : texts.length === 0 ? '' : JSON.stringify(texts)
}

/**
 * The functions of one cursor. Gives the value of an event's `data`; null where it has none; throws
 * where they fail.
 */
export type ReadKeys = (data: unknown) => string | null

/** The keys of an event for a cursor; null: it is none of its events, or has no such key. */
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
