import { isUtf8 } from 'node:buffer'
import { parse as parseJson } from 'secure-json-parse'
import { UpshotError } from '../core/errors.ts'
import { OWN_EVENT_IDS } from '../core/ids.ts'
import { OWN_TYPES, type ServiceEvent, TEST_EVENT } from '../core/incoming/event.ts'
import { parseEvent } from '../core/incoming/parse-event.ts'
import { scanJson } from '../core/incoming/scan-json.ts'

/** Limits of a body's nesting and number of keys. Real events are far below; attacks are not. */
export const JSON_LIMITS = { depth: 64, keys: 10_000 } as const

/** A verified body as text and as an event, or an `invalid_event` that tells its sender why not. */
export function readEvent(body: Buffer): { text: string; event: ServiceEvent } | UpshotError {
  const read = readJson(body)
  if (read instanceof UpshotError) return read
  try {
    const event = parseEvent(read.value)
    // A run that waits for one of ours believes it: no sender may end an approval.
    if (event.type.startsWith(OWN_TYPES) && event.type !== TEST_EVENT) return invalid(describeOurs('Types', OWN_TYPES))
    // Under an id that a sender has used, our own event would be a duplicate, and start nothing.
    if (event.id.startsWith(OWN_EVENT_IDS)) return invalid(describeOurs('Ids', OWN_EVENT_IDS))
    return { text: read.text, event }
  } catch (error) {
    if (error instanceof UpshotError) return error
    throw error
  }
}

/** The text of a body; an `invalid_event` where it is none that everybody reads alike. */
export function readText(body: Buffer): string | UpshotError {
  if (!isUtf8(body)) return invalid('The body is not UTF-8.')
  const text = body.toString('utf8')
  // Some parsers skip a byte order mark, others do not.
  return text.startsWith('\uFEFF') ? invalid('The body begins with a byte order mark.') : text
}

/** A body as text and as the value of its JSON, or why every parser should refuse it. */
export function readJson(body: Buffer): { text: string; value: unknown } | UpshotError {
  const text = readText(body)
  if (text instanceof UpshotError) return text
  const { depth, keys, hasTwin } = scanJson(text, JSON_LIMITS)
  if (depth > JSON_LIMITS.depth) return invalid(`The body is nested deeper than ${JSON_LIMITS.depth} levels.`)
  if (keys > JSON_LIMITS.keys) return invalid(`The body has more than ${JSON_LIMITS.keys} keys.`)
  // Parsers disagree on which of two equal keys counts.
  if (hasTwin) return invalid('The body has an object with the same key twice.')
  try {
    const value = mayPoison(text)
      ? parseJson(text, { protoAction: 'error', constructorAction: 'error' })
      : JSON.parse(text)
    return { text, value }
  } catch (error) {
    // The safe parser refuses these keys with an error of its own.
    const isPoisoned = error instanceof SyntaxError && error.message.includes('forbidden prototype property')
    return invalid(isPoisoned ? POISONED : 'The body is not JSON.')
  }
}

const POISONED = 'The body has a key "__proto__", or "constructor" with a "prototype" in it.'

/**
 * Whether the safe parser is needed: it takes twice as long, and only these texts can be unsafe.
 */
function mayPoison(text: string): boolean {
  return text.includes('__proto__') || text.includes('constructor') || text.includes('\\u')
}

function describeOurs(words: string, prefix: string): string {
  return `${words} under "${prefix}" are for events that Upshot makes.`
}

function invalid(message: string): UpshotError {
  return new UpshotError('invalid_event', message)
}
