import { isUtf8 } from 'node:buffer'
import { parse as parseJson } from 'secure-json-parse'
import { UpshotError } from '../core/errors.ts'
import { parseEvent, type ServiceEvent } from '../core/incoming/event.ts'

/**
 * Deeper nests and more keys than these are nobody's event, but somebody's attempt on whoever reads
 * it later.
 */
export const JSON_LIMITS = { depth: 64, keys: 10_000 } as const

/**
 * A body that is verified, as text and as an event; or what is wrong with it, as an `invalid_event`
 * for its sender.
 */
export function readEvent(body: Buffer): { text: string; event: ServiceEvent } | UpshotError {
  if (!isUtf8(body)) return invalid('The body is not UTF-8.')
  const text = body.toString('utf8')
  // The parser would skip a byte order mark, whoever reads the stored text later would not.
  if (text.startsWith('\uFEFF')) return invalid('The body begins with a byte order mark.')
  const { depth, keys, hasTwin } = scanJson(text)
  if (depth > JSON_LIMITS.depth) return invalid(`The body is nested deeper than ${JSON_LIMITS.depth} levels.`)
  if (keys > JSON_LIMITS.keys) return invalid(`The body has more than ${JSON_LIMITS.keys} keys.`)
  // What comes twice means one thing to us and may mean another to the next reader.
  if (hasTwin) return invalid('The body has an object with the same key twice.')
  try {
    const body = mayPoison(text)
      ? parseJson(text, { protoAction: 'error', constructorAction: 'error' })
      : JSON.parse(text)
    return { text, event: parseEvent(body) }
  } catch (error) {
    return error instanceof UpshotError ? error : invalid('The body is not JSON.')
  }
}

/** The careful parser takes twice as long, and no other text can have what it looks for. */
function mayPoison(text: string): boolean {
  return text.includes('__proto__') || text.includes('constructor') || text.includes('\\u')
}

function invalid(message: string): UpshotError {
  return new UpshotError('invalid_event', message)
}

const SPACE = 0x20
const QUOTE = 0x22
const COLON = 0x3a
const BACKSLASH = 0x5c
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d]

/** What a JSON text is like, before anybody parses it. */
export interface JsonShape {
  /** Its deepest nesting. */
  depth: number
  /** Number of its keys. */
  keys: number
  /** Whether an object in it has a key twice, however that is written. */
  hasTwin: boolean
}

/**
 * Looks through a JSON text in one pass, and stops as soon as something is over a limit. Of what is
 * no JSON it says anything, and the parser refuses it. The parsed value is not asked: twins are
 * gone there, and V8 (13.6) now and then takes a key that is written with an escape for another
 * one.
 */
export function scanJson(text: string): JsonShape {
  const shape: JsonShape = { depth: 0, keys: 0, hasTwin: false }
  const open: (Set<string> | null)[] = []
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = endOfText(text, at + 1)
      const next = skipSpace(text, end + 1)
      if (text.charCodeAt(next) === COLON) addKey(shape, open, text.slice(at + 1, end))
      at = end
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      open.push(code === OPEN_OBJECT ? new Set() : null)
      if (open.length > shape.depth) shape.depth = open.length
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) open.pop()
    if (shape.depth > JSON_LIMITS.depth || shape.keys > JSON_LIMITS.keys || shape.hasTwin) break
  }
  return shape
}

function addKey(shape: JsonShape, open: readonly (Set<string> | null)[], written: string): void {
  const keys = open.at(-1)
  const key = written.includes('\\') ? decodeKey(written) : written
  shape.keys += 1
  if (keys?.has(key)) shape.hasTwin = true
  keys?.add(key)
}

/** A key that is no JSON stays as it is; the parser refuses it. */
function decodeKey(written: string): string {
  try {
    return JSON.parse(`"${written}"`)
  } catch {
    return written
  }
}

/** Where the quote stands that ends a text. */
function endOfText(text: string, from: number): number {
  let end = text.indexOf('"', from)
  while (end !== -1 && isEscaped(text, end, from)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end
}

/** By an odd number of backslashes in front of it. */
function isEscaped(text: string, at: number, from: number): boolean {
  let before = at - 1
  while (before >= from && text.charCodeAt(before) === BACKSLASH) before--
  return (at - before) % 2 === 0
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && text.charCodeAt(at) <= SPACE) at++
  return at
}
