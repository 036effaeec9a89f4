import { redactUrls } from '../../core/errors.ts'

/** Stands in a log in place of a secret. */
export const REDACTED = '[redacted]'

/** Words that, anywhere in the name of a fact, make its value secret. */
const SECRET_WORDS = [
  /secret|signature|authorization|cookie|api-?_?key|password|passwd|token|credential|private-?_?key/i,
  /(download|upload|signed)-?_?ur[il]/i,
]

/** Patterns of credentials in running text; `$1` is kept. */
const SECRET_TEXTS = [
  // Headers whose whole value is a credential.
  /(\b(?:set-)?cookie["']?\s*[:=]\s*|\bauthorization["']?\s*[:=]\s*)[^\r\n"']+/gi,
  /(\b(?:bearer|basic)\s+)[\w.~+/=-]+/gi,
  // A name and its value, as in headers, queries, JSON and settings.
  /(\b[\w-]{0,40}(?:secret|signature|api[-_]?key|password|token)["']?\s*[:=]\s*["']?)[^\s"'}]+/gi,
  // Secrets that we generate, and digests in hex and in padded base64.
  /(\bwhsec_)[\w+/=-]+/g,
  /()(?<![\da-z])(?:[\da-f]{32,}|[\da-hjkmnp-tv-z]{32})(?![\da-z])/gi,
  /()[A-Za-z\d+/]{27,}={1,2}/g,
]

/** Levels of nesting, items per list or object, and characters per text; the rest is cut off. */
const MAX_DEPTH = 6
const MAX_ITEMS = 50
const MAX_CHARACTERS = 4_000

/**
 * Text without credentials: URLs are cut to their origin, because their path may grant access. Long
 * digests are redacted, because they may be signatures.
 */
export function redactText(text: string): string {
  const withoutUrls = redactUrls(text.slice(0, MAX_CHARACTERS)).replace(
    /(https?:\/\/[^\s/"'<>]+)\/[^\s"'<>]*/gi,
    '$1/…',
  )
  return SECRET_TEXTS.reduce((rest, pattern) => rest.replace(pattern, `$1${REDACTED}`), withoutUrls)
}

/** A copy for a log: secrets are redacted by name at any depth, and in texts. Never throws. */
export function redactFacts(facts: object): Record<string, unknown> {
  return redactEntries(facts, MAX_DEPTH)
}

function redactEntries(object: object, depth: number): Record<string, unknown> {
  try {
    const entries = Object.entries(object).slice(0, MAX_ITEMS)
    return Object.fromEntries(
      entries.map(([name, value]) => [redactText(name), isSecret(name) ? REDACTED : redactValue(value, depth)]),
    )
  } catch {
    return { unreadable: true }
  }
}

function isSecret(name: string): boolean {
  return SECRET_WORDS.some((words) => words.test(name))
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
