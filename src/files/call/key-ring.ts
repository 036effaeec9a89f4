import { AuthenticationError, type ErrorFacts } from '../errors.ts'
import { Secret } from '../secret.ts'

/** The API key, or a function that gives it. */
export type KeySource = string | (() => string | Promise<string>)

/**
 * The keys of one client: the current one, the sources of others, and the ones that were refused.
 */
export class KeyRing {
  readonly #sources: KeySource[]
  readonly #refused = new Set<string>()
  #current: Secret | null = null
  #asking: Promise<Secret | null> | null = null

  /** Earlier sources come first. */
  constructor(sources: KeySource[]) {
    this.#sources = sources
  }

  /**
   * The key to use. Throws `AuthenticationError` without a request when every known key was
   * refused.
   */
  async take(facts: ErrorFacts): Promise<Secret> {
    const key = this.#current ?? (await this.#ask(facts))
    if (key !== null) return key
    throw new AuthenticationError(
      'The service refused this API key. It is not sent again; give the client another one.',
      facts,
    )
  }

  /** Marks a key as refused with 401. Resolves to another key, or null when there is none. */
  async replace(refused: Secret, facts: ErrorFacts): Promise<Secret | null> {
    this.#refused.add(refused.fingerprint())
    if (this.#current?.fingerprint() === refused.fingerprint()) this.#current = null
    return this.#current ?? (await this.#ask(facts))
  }

  /** Calls that find the key refused at the same time share one question to the sources. */
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
  throw new AuthenticationError('The API key is empty or holds a character that no HTTP header can carry.', facts)
}
