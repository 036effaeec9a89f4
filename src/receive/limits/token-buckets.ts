/** The rate of one key: `perSecond` sustained, `burst` at once. */
interface BucketRate {
  perSecond: number
  burst: number
}

interface Bucket {
  tokens: number
  /** When the tokens were last counted. */
  at: number
}

/** To evict, the first full bucket among this many of the oldest is chosen, else the oldest. */
const EVICTION_CANDIDATES = 8

/** A token bucket for each of at most `maxKeys` keys. An evicted key starts with a full bucket. */
export class TokenBuckets {
  readonly #rate: BucketRate
  readonly #maxKeys: number
  readonly #buckets = new Map<string, Bucket>()

  constructor(rate: BucketRate, maxKeys = 10_000) {
    this.#rate = rate
    this.#maxKeys = maxKeys
  }

  get size(): number {
    return this.#buckets.size
  }

  /**
   * Takes a token and returns 0, or returns the milliseconds until there is one. A clock that is
   * set back takes no tokens away.
   */
  take(key: string, now: number): number {
    const bucket = this.#buckets.get(key) ?? this.#add(key, now)
    const refill = (Math.max(0, now - bucket.at) * this.#rate.perSecond) / 1_000
    bucket.tokens = Math.min(this.#rate.burst, bucket.tokens + refill)
    bucket.at = now
    if (bucket.tokens < 1) return Math.ceil(((1 - bucket.tokens) * 1_000) / this.#rate.perSecond)
    bucket.tokens -= 1
    return 0
  }

  #add(key: string, now: number): Bucket {
    if (this.#buckets.size >= this.#maxKeys) this.#evict(now)
    const bucket = { tokens: this.#rate.burst, at: now }
    this.#buckets.set(key, bucket)
    return bucket
  }

  #evict(now: number): void {
    const oldest = this.#buckets.entries().take(EVICTION_CANDIDATES).toArray()
    const [victim] = oldest.find(([, bucket]) => this.#isFull(bucket, now)) ?? oldest[0] ?? []
    if (victim !== undefined) this.#buckets.delete(victim)
  }

  #isFull({ tokens, at }: Bucket, now: number): boolean {
    return tokens + ((now - at) * this.#rate.perSecond) / 1_000 >= this.#rate.burst
  }
}

/** The key of a remote address: all of IPv4, the first 64 bits of IPv6, which one customer owns. */
export function addressKey(address: string | undefined): string {
  if (address === undefined) return ''
  if (!address.includes(':') || address.includes('.')) return address
  const [head = '', tail] = address.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length)
  return [...before, ...Array<string>(zeros).fill('0'), ...after].slice(0, 4).join(':')
}
