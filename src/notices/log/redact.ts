import { redactUrls } from '../../core/errors.ts'

/** Replaces the secrets that this process knows. */
export type RedactKnown = (text: string) => string

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
  // Forms of a secret or signature that name themselves. An id or a hash has no such name.
  /(\b(?:whsec|sk_(?:live|test|sandbox))_)[\w+/=-]+/g,
  /(\bsignature\s+)(?=\S*\d)[\w+/=-]{16,}/gi,
  /(\b(?:sha(?:1|256|384|512)=|v\d[=,]))[\w+/=-]{16,}/gi,
]

/** Every pattern and URL needs one of these. Most texts are ids and words, which have none. */
const MAY_HIDE = /[:=]|bearer|basic|signature|whsec_|sk_|v\d,/i

/** Names of facts that were judged, most of which come again and again. */
const judged = new Map<string, boolean>()
const MAX_JUDGED = 1_000

/** Levels of nesting, items per list or object, and characters per text; the rest is cut off. */
const MAX_DEPTH = 6
const MAX_ITEMS = 50
const MAX_CHARACTERS = 4_000

/**
 * Text without credentials: URLs are cut to their origin, because their path may grant access. A
 * secret is known by itself or by the name before it, so that ids and hashes stay.
 */
export function redactText(text: string, known: RedactKnown = unchanged): string {
  // Before the cut, which could leave half of a secret.
  const rest = known(text).slice(0, MAX_CHARACTERS)
  if (!MAY_HIDE.test(rest)) return rest
  const withoutUrls = redactUrls(rest).replace(/(https?:\/\/[^\s/"'<>]+)\/[^\s"'<>]*/gi, '$1/…')
  return SECRET_TEXTS.reduce((left, pattern) => left.replace(pattern, `$1${REDACTED}`), withoutUrls)
}

/** A copy for a log: secrets are redacted by name at any depth, and in texts. Never throws. */
export function redactFacts(facts: object, known: RedactKnown = unchanged): Record<string, unknown> {
  return redactEntries(facts, MAX_DEPTH, known)
}

function unchanged(text: string): string {
  return text
}

function redactEntries(object: object, depth: number, known: RedactKnown): Record<string, unknown> {
  try {
    const entries = Object.entries(object).slice(0, MAX_ITEMS)
    return Object.fromEntries(
      entries.map(([name, value]) => [
        redactText(name, known),
        isSecret(name) ? REDACTED : redactValue(value, depth, known),
      ]),
    )
  } catch {
    return { unreadable: true }
  }
}

function isSecret(name: string): boolean {
  const known = judged.get(name)
  if (known !== undefined) return known
  const verdict = SECRET_WORDS.some((words) => words.test(name))
  if (judged.size < MAX_JUDGED) judged.set(name, verdict)
  return verdict
}

function redactValue(value: unknown, depth: number, known: RedactKnown): unknown {
  if (typeof value === 'string') return redactText(value, known)
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (value instanceof URL) return redactText(value.href, known)
  if (value instanceof Error) return { name: String(value.name), message: redactText(String(value.message), known) }
  if (depth === 0) return '…'
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => redactValue(item, depth - 1, known))
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`
  return redactEntries(value, depth - 1, known)
}

/** Shorter values would redact everyday words. Every secret that we accept is longer. */
const LEAST = 8

/** The secrets of this process: keys of accounts, secrets of endpoints, the sandbox's key. */
export class KnownSecrets {
  #pattern: RegExp | null = null
  /** Characters of the shortest one. */
  #least = 0

  replace(secrets: Iterable<string>): void {
    const forms = new Set([...secrets].flatMap(formsOf).filter((form) => form.length >= LEAST))
    // The longest first, because one form may begin another.
    const words = [...forms]
      .sort((a, b) => b.length - a.length)
      .map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
    this.#least = Math.min(...[...forms].map((form) => form.length))
    this.#pattern = words.length === 0 ? null : new RegExp(words.join('|'), 'gi')
  }

  /** The text with each known secret replaced. */
  redact(text: string): string {
    return this.#pattern === null || text.length < this.#least ? text : text.replace(this.#pattern, REDACTED)
  }
}

/** A secret as it stands in settings, in URLs and in JSON; the bytes behind `whsec_` count too. */
function formsOf(secret: string): string[] {
  const bare = secret.replace(/^whsec_/, '')
  return [secret, bare].flatMap((form) => [form, encodeURIComponent(form), JSON.stringify(form).slice(1, -1)])
}
