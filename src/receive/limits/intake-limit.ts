import type { Share } from './peers.ts'
import { addressKey, TokenBuckets } from './token-buckets.ts'

/** The limits of one receiver. A delivery over a limit is answered 503, a large body 413. */
export interface ReceiveLimits {
  /** Maximum size of a body. */
  bodyBytes: number
  /** Total bytes of all bodies that are read and not yet committed. */
  bytesInFlight: number
  /** Deliveries whose body is read and that wait for their commit. */
  inFlight: number
  /** Open connections; one more is closed at once. */
  connections: number
  /** Part of the connections and of the bytes in flight that one address may hold, up to 1. */
  addressShare: number
  /** Bytes of a body that are to arrive each second, after a grace of two. */
  bodyBytesPerSecond: number
  /** Deliveries to one endpoint: sustained rate. */
  endpointPerSecond: number
  /** Deliveries to one endpoint: how many at once. */
  endpointBurst: number
  /** Deliveries from one IPv4 address or one IPv6 /64 network: sustained rate. */
  addressPerSecond: number
  /** Deliveries from one address or network: how many at once. */
  addressBurst: number
}

export const DEFAULT_LIMITS: ReceiveLimits = {
  bodyBytes: 1_048_576,
  bytesInFlight: 67_108_864,
  inFlight: 1_000,
  connections: 5_000,
  addressShare: 0.5,
  bodyBytesPerSecond: 4_096,
  endpointPerSecond: 20_000,
  endpointBurst: 40_000,
  addressPerSecond: 20_000,
  addressBurst: 40_000,
}

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
