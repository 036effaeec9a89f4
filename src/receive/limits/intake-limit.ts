import type { Share } from './peers.ts'
import { DEFAULT_LIMITS, type ReceiveLimits } from './receive-limits.ts'
import { addressKey, TokenBuckets } from './token-buckets.ts'

/** Why a delivery is rejected before it is read, and when the sender may try again. */
export interface Rejection {
  verdict: 'draining' | 'overloaded'
  reason?: 'starting' | 'queue_full' | 'bytes_in_flight' | 'address_rate' | 'endpoint_rate'
  retryAfterMs?: number
}

/** A body up to this size is small. */
const SMALL_BODY_BYTES = 65_536
/** The part of the bytes in flight that larger bodies may take. */
const LARGE_BODY_SHARE = 0.75

/** All unknown endpoints share a bucket, so that probing for endpoints is limited, too. */
const NO_ENDPOINT = ''

/** Counts the deliveries in progress and rejects those over a limit, before a secret is used. */
export class IntakeLimit {
  readonly limits: ReceiveLimits
  readonly #findBar: () => Rejection | null
  readonly #addresses: TokenBuckets
  readonly #endpoints: TokenBuckets
  #inFlight = 0
  #bytes = 0

  /** `findBar`: why the receiver takes no delivery at all now; null while it does. */
  constructor(limits: Partial<ReceiveLimits>, findBar: () => Rejection | null) {
    this.limits = { ...DEFAULT_LIMITS, ...limits }
    this.#findBar = findBar
    const { addressPerSecond, addressBurst, endpointPerSecond, endpointBurst } = this.limits
    this.#addresses = new TokenBuckets({ perSecond: addressPerSecond, burst: addressBurst })
    this.#endpoints = new TokenBuckets({ perSecond: endpointPerSecond, burst: endpointBurst })
  }

  /** Deliveries that wait for their commit, and the bytes of all bodies in memory. */
  get load(): { waiting: number; bytes: number } {
    return { waiting: this.#inFlight, bytes: this.#bytes }
  }

  /** The limits that need no endpoint: the queue, then the rate of the address. */
  admit(address: string | undefined, now: number): Rejection | null {
    const full = this.checkQueue()
    if (full !== null) return full
    return limited('address_rate', this.#addresses.take(addressKey(address), now))
  }

  admitTo(endpointId: string | undefined, now: number): Rejection | null {
    return limited('endpoint_rate', this.#endpoints.take(endpointId ?? NO_ENDPOINT, now))
  }

  checkQueue(): Rejection | null {
    const bar = this.#findBar()
    if (bar !== null) return bar
    return this.#inFlight < this.limits.inFlight ? null : { verdict: 'overloaded', reason: 'queue_full' }
  }

  /** The body is read: until `leave`, the delivery counts as waiting for its commit. */
  enter(): void {
    this.#inFlight += 1
  }

  leave(): void {
    this.#inFlight -= 1
  }

  /**
   * False if the bytes would exceed the limit, or the share of their address. `held`: bytes of the
   * same body so far. Bytes that were taken must be given back.
   */
  takeBytes(count: number, share: Share, held: number): boolean {
    const { bytesInFlight, addressShare } = this.limits
    // Large bodies leave a part to small ones, which nearly all deliveries are.
    const room = held + count > SMALL_BODY_BYTES ? bytesInFlight * LARGE_BODY_SHARE : bytesInFlight
    const own = Math.max(room * addressShare, this.limits.bodyBytes)
    if (this.#bytes + count > room || share.bytes + count > own) return false
    this.#bytes += count
    share.bytes += count
    return true
  }

  giveBytes(count: number, share: Share): void {
    this.#bytes -= count
    share.bytes -= count
  }
}

function limited(reason: Rejection['reason'] & string, waitMs: number): Rejection | null {
  return waitMs === 0 ? null : { verdict: 'overloaded', reason, retryAfterMs: waitMs }
}
