import { DEFAULT_LIMITS, type ReceiveLimits } from './receive-limits.ts'
import { addressKey, TokenBuckets } from './token-buckets.ts'

/**
 * Why a delivery is turned away before anything is done for it, and after how long it may come
 * again.
 */
export interface Rejection {
  verdict: 'draining' | 'overloaded'
  reason?: 'queue_full' | 'bytes_in_flight' | 'address_rate' | 'endpoint_rate'
  retryAfterMs?: number
}

/**
 * All endpoints that do not exist share a bucket: it must cost a prober no less to ask for them.
 */
const NO_ENDPOINT = ''

/** Counts what is going on, and turns away what is too much. Nothing here looks at a secret. */
export class IntakeLimit {
  readonly limits: ReceiveLimits
  readonly #isDraining: () => boolean
  readonly #addresses: TokenBuckets
  readonly #endpoints: TokenBuckets
  #inFlight = 0
  #bytes = 0

  constructor(limits: Partial<ReceiveLimits>, isDraining: () => boolean) {
    this.limits = { ...DEFAULT_LIMITS, ...limits }
    this.#isDraining = isDraining
    const { addressPerSecond, addressBurst, endpointPerSecond, endpointBurst } = this.limits
    this.#addresses = new TokenBuckets({ perSecond: addressPerSecond, burst: addressBurst })
    this.#endpoints = new TokenBuckets({ perSecond: endpointPerSecond, burst: endpointBurst })
  }

  /** Before a byte of the body is read. */
  admit(address: string | undefined, now: number): Rejection | null {
    const full = this.checkQueue()
    if (full !== null) return full
    return limited('address_rate', this.#addresses.take(addressKey(address), now))
  }

  admitTo(endpointId: string | undefined, now: number): Rejection | null {
    return limited('endpoint_rate', this.#endpoints.take(endpointId ?? NO_ENDPOINT, now))
  }

  checkQueue(): Rejection | null {
    if (this.#isDraining()) return { verdict: 'draining' }
    return this.#inFlight < this.limits.inFlight ? null : { verdict: 'overloaded', reason: 'queue_full' }
  }

  /** A body is here and on its way to its commit, until `leave`. */
  enter(): void {
    this.#inFlight += 1
  }

  leave(): void {
    this.#inFlight -= 1
  }

  /** False when so many bytes are in flight that these do not fit. Taken ones are given back. */
  takeBytes(count: number): boolean {
    if (this.#bytes + count > this.limits.bytesInFlight) return false
    this.#bytes += count
    return true
  }

  giveBytes(count: number): void {
    this.#bytes -= count
  }
}

function limited(reason: Rejection['reason'] & string, waitMs: number): Rejection | null {
  return waitMs === 0 ? null : { verdict: 'overloaded', reason, retryAfterMs: waitMs }
}
