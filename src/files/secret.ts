import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import { redactUrls } from '../core/errors.ts'

/** A shorter secret shows nothing: four of eight characters would be half of it. */
const MIN_SHOWN_LENGTH = 12

/** A text that logs, errors and JSON show only by its last four characters. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** The text itself. Call it only where the text is sent. */
  reveal(): string {
    return this.#value
  }

  /** The first 16 hex digits of the SHA-256: tells secrets apart without holding them. */
  fingerprint(): string {
    return createHash('sha256').update(this.#value, 'utf8').digest('hex').slice(0, 16)
  }

  toString(): string {
    return this.#value.length < MIN_SHOWN_LENGTH ? '…' : `…${this.#value.slice(-4)}`
  }

  toJSON(): string {
    return this.toString()
  }

  [inspect.custom](): string {
    return `Secret(${this.toString()})`
  }
}

/** A copy without the secret and without the queries of URLs. Servers echo what they receive. */
export function redactSecret<T>(value: T, secret: Secret | null): T {
  if (typeof value === 'string') return redactText(value, secret) as T
  if (Array.isArray(value)) return value.map((item) => redactSecret(item, secret)) as T
  if (typeof value !== 'object' || value === null) return value
  const pairs = Object.entries(value).map(([name, item]) => [redactText(name, secret), redactSecret(item, secret)])
  return Object.fromEntries(pairs) as T
}

function redactText(text: string, secret: Secret | null): string {
  const hidden = secret === null || secret.reveal() === '' ? text : text.replaceAll(secret.reveal(), secret.toString())
  return redactUrls(hidden)
}
