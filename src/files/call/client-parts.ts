import { KeptHashes } from '../disk/kept-hashes.ts'
import { Limiter } from '../limit/limiter.ts'
import { memoryLimiterStore } from '../limit/limiter-store.ts'
import type { FilesLogLine } from '../log-line.ts'
import type { Secret } from '../secret.ts'
import { KeyRing } from './key-ring.ts'
import { type ClientSettings, type FilesClientOptions, resolveSettings } from './options.ts'
import { RetryQuota } from './retry-quota.ts'

export interface ClientParts {
  settings: ClientSettings
  keys: KeyRing
  /** The limiter of a key: the service counts requests per key. */
  limiterOf: (key: Secret) => Limiter
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
    quota: new RetryQuota(clock, settings.retry.quota),
    partHashes: new KeptHashes(),
    log,
  }
}
