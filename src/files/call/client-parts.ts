import type { StorageName } from '../../core/service/storage.ts'
import type { Clock } from '../../core/time.ts'
import { KeptHashes } from '../disk/part-hash.ts'
import { Limiter } from '../limit/limiter.ts'
import { memoryLimiterStore, type Priority } from '../limit/limiter-store.ts'
import type { FilesLogLine } from '../log-line.ts'
import type { Secret } from '../secret.ts'
import { KeyRing } from './key-ring.ts'
import { type ClientSettings, type FilesClientOptions, resolveSettings } from './options.ts'
import { Semaphore } from './semaphore.ts'

export interface ClientParts {
  settings: ClientSettings
  keys: KeyRing
  /** The limiter of a key: the service counts requests per key. */
  limiterOf: (key: Secret) => Limiter
  /** One for each, so that a storage that does not answer holds up no other, and no person. */
  semaphoreOf: (storage: StorageName, priority: Priority) => Semaphore
  quota: RetryQuota
  /** Hashes of the parts that interrupted downloads left. */
  partHashes: KeptHashes
  log: (line: FilesLogLine) => void
}

/**
 * The parts of a client with these options. Throws `invalid_config` for options that cannot work.
 */
export function createClientParts(options: FilesClientOptions): ClientParts {
  const settings = resolveSettings(options)
  const { clock, limit } = settings
  const sources = options.fallbackKey === undefined ? [options.apiKey] : [options.apiKey, options.fallbackKey]
  const store = options.limiter ?? memoryLimiterStore()
  const limiters = new Map<string, Limiter>()
  const semaphores = new Map<string, Semaphore>()
  const log = options.log ?? (() => {})
  const onFallback = () =>
    log({ kind: 'warning', message: 'The service refused the API key; the fallback key is used. Make it the API key.' })
  return {
    settings,
    keys: new KeyRing({ sources, clock, onFallback }),
    limiterOf: (secret: Secret) => {
      const key = secret.fingerprint()
      const limiter = limiters.get(key) ?? new Limiter({ key, store, clock, limit })
      limiters.set(key, limiter)
      return limiter
    },
    semaphoreOf: (storage, priority) => {
      const key = `${storage} ${priority}`
      const semaphore = semaphores.get(key) ?? new Semaphore()
      semaphores.set(key, semaphore)
      return semaphore
    },
    quota: new RetryQuota(clock, settings.retry.quota),
    partHashes: new KeptHashes(),
    log,
  }
}

/** Tokens per retry. */
const COST = 5

/** One token comes back in this time. */
const REFILL_MS = 1_000

/**
 * Tokens that pay for retries, so that a failing service does not get several times its usual load.
 */
class RetryQuota {
  readonly #clock: Clock
  readonly #capacity: number
  #tokens: number
  #refilledAt: number

  constructor(clock: Clock, capacity: number) {
    this.#clock = clock
    this.#capacity = capacity
    this.#tokens = capacity
    this.#refilledAt = clock.now()
  }

  /** Takes the tokens of one retry; false when too few are left. */
  take(): boolean {
    this.#refill()
    if (this.#tokens < COST) return false
    this.#tokens -= COST
    return true
  }

  /** Gives one token back after a success. */
  reward(): void {
    this.#tokens = Math.min(this.#capacity, this.#tokens + 1)
  }

  /** Adds one token per second. */
  #refill(): void {
    const now = this.#clock.now()
    const earned = Math.max(0, Math.floor((now - this.#refilledAt) / REFILL_MS))
    this.#tokens = Math.min(this.#capacity, this.#tokens + earned)
    this.#refilledAt = earned > 0 || now < this.#refilledAt ? now : this.#refilledAt
  }
}
