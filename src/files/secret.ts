import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import { redactUrls } from '../core/errors.ts'

/**
 * Shorter secrets than this show nothing of themselves: four characters of eight would be half of
 * it.
 */
const MIN_SHOWN = 12

/**
 * A text that no log, error or JSON document can pick up by accident: whatever prints it shows its
 * last four characters.
 */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** The text itself, for the one line that sends it. */
  reveal(): string {
    return this.#value
  }

  /** Sixteen hex digits of its SHA-256: tells two secrets apart without holding them. */
  fingerprint(): string {
    return createHash('sha256').update(this.#value, 'utf8').digest('hex').slice(0, 16)
  }

  toString(): string {
    return this.#value.length < MIN_SHOWN ? '…' : `…${this.#value.slice(-4)}`
  }

  toJSON(): string {
    return this.toString()
  }

  [inspect.custom](): string {
    return `Secret(${this.toString()})`
  }
}

/**
 * The same value without the secret and without query strings of URLs: a server may well echo what
 * it was sent.
 */
export function redactSecret<T>(value: T, secret: Secret | null): T {
  if (typeof value === 'string') return scrubText(value, secret) as T
  if (Array.isArray(value)) return value.map((item) => redactSecret(item, secret)) as T
  if (typeof value !== 'object' || value === null) return value
  const pairs = Object.entries(value).map(([name, item]) => [scrubText(name, secret), redactSecret(item, secret)])
  return Object.fromEntries(pairs) as T
}

function scrubText(text: string, secret: Secret | null): string {
  const hidden = secret === null || secret.reveal() === '' ? text : text.replaceAll(secret.reveal(), secret.toString())
  return redactUrls(hidden)
}
