import { type Clock, isoTime } from '../../core/time.ts'
import { AuthenticationError, type ErrorFacts } from '../errors.ts'
import { Secret } from '../secret.ts'

/** The API key, or a function that gives it. */
export type KeySource = string | (() => string | Promise<string>)

/** A refused key is tried again after this time: the service's own login may have been down. */
const RETRY_REFUSED_MS = 60_000
/** A source that has not answered for so long may never do so: the next call asks anew. */
const MAX_ASKING_MS = 60_000

interface KeyRingParts {
  /** Earlier sources come first. */
  sources: KeySource[]
  clock: Clock
  /** Called once, when a key of a later source is used. */
  onFallback: () => void
}

/**
 * The keys of one client: the current one, the sources of others, and the ones that were refused.
 */
export class KeyRing {
  readonly #parts: KeyRingParts
  /** When each key was refused within the last minute, in epoch milliseconds, by fingerprint. */
  readonly #refused = new Map<string, number>()
  #current: Secret | null = null
  #asking: { at: number; answer: Promise<Secret | null> } | null = null
  #hasReportedFallback = false

  constructor(parts: KeyRingParts) {
    this.#parts = parts
  }

  /** The key in use; null where a source has to be asked, which may take long. */
  get current(): Secret | null {
    return this.#current
  }

  /**
   * The key to use. Throws `AuthenticationError` without a request when every known key was
   * refused within the last minute.
   */
  async take(facts: ErrorFacts): Promise<Secret> {
    const key = this.#current ?? (await this.#ask(facts))
    if (key !== null) return key
    throw this.allRefused('The service refused this API key.', facts)
  }

  /** Marks a key as refused with 401. Resolves to another key, or null when there is none. */
  async replace(refused: Secret, facts: ErrorFacts): Promise<Secret | null> {
    this.#refused.set(refused.fingerprint(), this.#parts.clock.now())
    if (this.#current?.fingerprint() === refused.fingerprint()) this.#current = null
    return this.#current ?? (await this.#ask(facts))
  }

  /** The error of a call for which no key is left. It names the moment of the next try. */
  allRefused(message: string, facts: ErrorFacts): AuthenticationError {
    const retryAt = Math.min(...this.#refused.values(), this.#parts.clock.now()) + RETRY_REFUSED_MS
    const when = `This key is not sent again before ${isoTime(retryAt)}`
    return new AuthenticationError(`${message} ${when}; give the client another one.`, {
      ...facts,
      retryable: true,
      retryAt: Math.max(retryAt, this.#parts.clock.now() + 1),
    })
  }

  /** Calls that find the key refused at the same time share one question to the sources. */
  #ask(facts: ErrorFacts): Promise<Secret | null> {
    const at = this.#parts.clock.now()
    if (this.#asking !== null && Math.abs(at - this.#asking.at) < MAX_ASKING_MS) return this.#asking.answer
    const asking = {
      at,
      answer: this.#askSources(facts).finally(() => {
        if (this.#asking === asking) this.#asking = null
      }),
    }
    this.#asking = asking
    return asking.answer
  }

  async #askSources(facts: ErrorFacts): Promise<Secret | null> {
    const now = this.#parts.clock.now()
    // A moment far ahead is of a clock that was set back since.
    for (const [key, at] of this.#refused) if (Math.abs(now - at) >= RETRY_REFUSED_MS) this.#refused.delete(key)
    for (const [index, source] of this.#parts.sources.entries()) {
      const key = requireKey(await askSource(source, facts), facts)
      if (this.#refused.has(key.fingerprint())) continue
      this.#current = key
      if (index > 0) this.#reportFallback()
      return key
    }
    return null
  }

  #reportFallback(): void {
    if (this.#hasReportedFallback) return
    this.#hasReportedFallback = true
    this.#parts.onFallback()
  }
}

async function askSource(source: KeySource, facts: ErrorFacts): Promise<string> {
  if (typeof source === 'string') return source
  try {
    return await source()
  } catch {
    // The provider's error is dropped: it may quote the key.
    throw new AuthenticationError('The function that provides the API key failed. Look there for the reason.', {
      ...facts,
      retryable: true,
    })
  }
}

/** Checked here because `fetch` quotes an invalid header value in its error. */
function requireKey(key: unknown, facts: ErrorFacts): Secret {
  const trimmed = typeof key === 'string' ? key.trim() : ''
  if (/^[\x21-\x7e]+$/.test(trimmed)) return new Secret(trimmed)
  throw new AuthenticationError('The API key is empty, or has a character that no HTTP header can carry.', facts)
}
