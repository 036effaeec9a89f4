import { isUtf8 } from 'node:buffer'
import { parse as parseJson } from 'secure-json-parse'
import { UpshotError } from '../core/errors.ts'
import { parseEvent, type ServiceEvent } from '../core/event.ts'
import { isPlainObject } from '../core/json.ts'

/** Deeper nests and more keys than these are nobody's event, but somebody's attempt on whoever reads it later. */
export const JSON_LIMITS = { depth: 64, keys: 10_000 } as const

/** A body that is verified, as text and as an event; or what is wrong with it, as an `invalid_event` for its sender. */
export function readEvent(body: Buffer): { text: string; event: ServiceEvent } | UpshotError {
  if (!isUtf8(body)) return invalid('The body is not UTF-8.')
  const { depth, keys } = scanJson(body)
  if (depth > JSON_LIMITS.depth) return invalid(`The body is nested deeper than ${JSON_LIMITS.depth} levels.`)
  if (keys > JSON_LIMITS.keys) return invalid(`The body has more than ${JSON_LIMITS.keys} keys.`)
  const text = body.toString('utf8')
  try {
    // The parser would skip a byte order mark, whoever reads the stored text later would not.
    if (text.startsWith('\uFEFF')) return invalid('The body begins with a byte order mark.')
    const value: unknown = parseJson(text, { protoAction: 'error', constructorAction: 'error' })
    // A key that comes twice means one thing to us and may mean another to the next reader. It is in the text and not in the value.
    if (countKeys(value) !== keys) return invalid('The body has an object with the same key twice.')
    return { text, event: parseEvent(value) }
  } catch (error) {
    return error instanceof UpshotError ? error : invalid('The body is not JSON.')
  }
}

function invalid(message: string): UpshotError {
  return new UpshotError('invalid_event', message)
}

const QUOTE = 0x22
const COLON = 0x3a
const BACKSLASH = 0x5c

/**
 * The deepest nesting and the number of keys of a JSON text, in one pass over its bytes that remembers nothing. Stops when
 * one is over its limit. Of what is no JSON it gives some numbers, and the parser refuses it.
 */
export function scanJson(bytes: Uint8Array): { depth: number; keys: number } {
  const { length } = bytes
  let level = 0
  let depth = 0
  let keys = 0
  for (let at = 0; at < length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      at++
      while (at < length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
    } else if (byte === COLON) {
      if (++keys > JSON_LIMITS.keys) break
    } else if (byte === 0x7b || byte === 0x5b) {
      if (++level > depth) depth = level
      if (depth > JSON_LIMITS.depth) break
    } else if (byte === 0x7d || byte === 0x5d) level--
  }
  return { depth, keys }
}

/** The keys of all objects in a parsed value, which is no deeper than the limit. */
function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (isPlainObject(value)) {
    for (const key in value) count += 1 + countKeys(value[key])
  } else {
    for (const item of value as unknown[]) count += countKeys(item)
  }
  return count
}
