import { AuthenticationError, type ErrorFacts } from '../errors.ts'
import { Secret } from '../secret.ts'

/** A key, or where to ask for it. */
export type KeySource = string | (() => string | Promise<string>)

/**
 * The keys of one client: the one in use, where to get another, and which the service has refused.
 */
export class KeyRing {
  readonly #sources: KeySource[]
  readonly #refused = new Set<string>()
  #current: Secret | null = null
  #asking: Promise<Secret | null> | null = null

  /** Earlier sources are preferred. */
  constructor(sources: KeySource[]) {
    this.#sources = sources
  }

  /**
   * The key to use. Throws `AuthenticationError` without any request while every key at hand has
   * been refused.
   */
  async take(facts: ErrorFacts): Promise<Secret> {
    const key = this.#current ?? (await this.#ask(facts))
    if (key !== null) return key
    throw new AuthenticationError(
      'The service has refused this API key; it is not tried again until the provider returns another one.',
      facts,
    )
  }

  /** Parks a key that got 401 and gives another one, or null when there is none. */
  async replace(refused: Secret, facts: ErrorFacts): Promise<Secret | null> {
    this.#refused.add(refused.fingerprint())
    if (this.#current?.fingerprint() === refused.fingerprint()) this.#current = null
    return this.#current ?? (await this.#ask(facts))
  }

  /** Any number of calls that find the key refused ask for another one together. */
  #ask(facts: ErrorFacts): Promise<Secret | null> {
    this.#asking ??= this.#askSources(facts).finally(() => {
      this.#asking = null
    })
    return this.#asking
  }

  async #askSources(facts: ErrorFacts): Promise<Secret | null> {
    for (const source of this.#sources) {
      const key = requireKey(await askSource(source, facts), facts)
      if (this.#refused.has(key.fingerprint())) continue
      this.#current = key
      return key
    }
    return null
  }
}

async function askSource(source: KeySource, facts: ErrorFacts): Promise<string> {
  if (typeof source === 'string') return source
  try {
    return await source()
  } catch {
    // Whatever a provider throws may quote what it holds.
    throw new AuthenticationError('The provider of the API key failed; look there for the reason.', {
      ...facts,
      retryable: true,
    })
  }
}

/** Checked here because `fetch` would quote a key that makes no header. */
function requireKey(key: unknown, facts: ErrorFacts): Secret {
  const trimmed = typeof key === 'string' ? key.trim() : ''
  if (/^[\x21-\x7e]+$/.test(trimmed)) return new Secret(trimmed)
  throw new AuthenticationError('The API key is empty or holds characters that no header can carry.', facts)
}
