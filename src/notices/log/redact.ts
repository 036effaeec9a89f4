import { redactUrls } from '../../core/errors.ts'

/** What stands in a log for something that must not be there. */
export const REDACTED = '[redacted]'

/** Words that, anywhere in the name of a fact, say that its value is nobody's business. */
const SECRET_NAME =
  /secret|signature|authorization|cookie|api-?_?key|password|passwd|token|credential|private-?_?key|(download|upload|signed)-?_?ur[il]/i

/** What looks like a credential in running text; `$1` is kept. */
const SECRET_TEXTS = [
  // Headers whose whole value is one.
  /(\b(?:set-)?cookie["']?\s*[:=]\s*|\bauthorization["']?\s*[:=]\s*)[^\r\n"']+/gi,
  /(\b(?:bearer|basic)\s+)[\w.~+/=-]+/gi,
  // A telling name with its value, as headers, queries, JSON and settings write them.
  /(\b[\w-]{0,40}(?:secret|signature|api[-_]?key|password|token)["']?\s*[:=]\s*["']?)[^\s"'}]+/gi,
  // What our generators make, and digests in hex and in padded base64.
  /(\bwhsec_)[\w+/=-]+/g,
  /()(?<![\da-z])(?:[\da-f]{32,}|[\da-hjkmnp-tv-z]{32})(?![\da-z])/gi,
  /()[A-Za-z\d+/]{27,}={1,2}/g,
]

/** Longer lists, deeper nests and longer texts than these tell a reader nothing. */
const DEEPEST = 6
const MAX_ITEMS = 50
const MAX_TEXT = 4_000

/**
 * Text without credentials. Addresses are cut to their origin, since a download URL may carry its
 * right in its path, and long digests are hidden with the signatures that they cannot be told from.
 */
export function redactText(text: string): string {
  const withoutUrls = redactUrls(text.slice(0, MAX_TEXT)).replace(/(https?:\/\/[^\s/"'<>]+)\/[^\s"'<>]*/gi, '$1/…')
  return SECRET_TEXTS.reduce((rest, pattern) => rest.replace(pattern, `$1${REDACTED}`), withoutUrls)
}

/**
 * A copy that may be written to a log: secrets hidden by their names, at any depth, and in texts.
 * Never throws.
 */
export function redactFacts(facts: object): Record<string, unknown> {
  return redactEntries(facts, DEEPEST)
}

function redactEntries(object: object, depth: number): Record<string, unknown> {
  try {
    const entries = Object.entries(object).slice(0, MAX_ITEMS)
    return Object.fromEntries(
      entries.map(([name, value]) => [redactText(name), SECRET_NAME.test(name) ? REDACTED : redactValue(value, depth)]),
    )
  } catch {
    return { unreadable: true }
  }
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (value instanceof URL) return redactText(value.href)
  if (value instanceof Error) return { name: String(value.name), message: redactText(String(value.message)) }
  if (depth === 0) return '…'
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => redactValue(item, depth - 1))
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`
  return redactEntries(value, depth - 1)
}
