import type { Settings } from '../state/settings.ts'

/** Section 8: requests per minute and burst of each plan. */
export const PLAN_LIMITS = {
  free: { perMinute: 60, burst: 100 },
  pro: { perMinute: 300, burst: 500 },
  enterprise: { perMinute: 1000, burst: 2000 },
  unlimited: null,
} as const satisfies Record<Settings['plan'], { perMinute: number; burst: number } | null>

interface Allowance {
  allowed: boolean
  /** Requests per minute. */
  limit: number
  /** Whole requests left now. */
  remaining: number
  /** When the next request is allowed, in epoch milliseconds. */
  resetAt: number
}

/** A token bucket in milliseconds, without rounding: a request costs `60,000 / perMinute`. */
interface Bucket {
  creditMs: number
  filledAt: number
}

/**
 * Buckets kept; the least recently used is dropped first, and its key starts with a full bucket.
 */
const MAX_BUCKETS = 10_000

/** A token bucket per key: the plan's burst is its size, the plan's rate refills it. */
export class RateLimiter {
  /** Least recently used first. */
  readonly #buckets = new Map<string, Bucket>()

  /** Takes one request from the key's bucket. Null if the plan has no limit. */
  take(keyId: string, plan: Settings['plan'], now: number): Allowance | null {
    const limits = PLAN_LIMITS[plan]
    if (!limits) return null
    const costMs = 60_000 / limits.perMinute
    const before = this.#buckets.get(keyId) ?? { creditMs: limits.burst * costMs, filledAt: now }
    const filledMs = Math.min(limits.burst * costMs, before.creditMs + Math.max(0, now - before.filledAt))
    const allowed = filledMs >= costMs
    const creditMs = allowed ? filledMs - costMs : filledMs
    this.#remember(keyId, { creditMs, filledAt: now })
    const resetAt = now + Math.max(0, costMs - creditMs)
    return { allowed, limit: limits.perMinute, remaining: Math.floor(creditMs / costMs), resetAt }
  }

  /** Refills every bucket. */
  clear(): void {
    this.#buckets.clear()
  }

  #remember(keyId: string, bucket: Bucket): void {
    this.#buckets.delete(keyId)
    this.#buckets.set(keyId, bucket)
    const [oldest] = this.#buckets.keys()
    if (this.#buckets.size > MAX_BUCKETS && oldest !== undefined) this.#buckets.delete(oldest)
  }
}

/**
 * The rate limit headers of a reply, as far as the settings allow them (section 8, rules 2 and 3).
 */
export function rateHeaders(allowance: Allowance, settings: Settings, now: number): Record<string, string> {
  const isShown = allowance.allowed ? settings.rateHeadersOnSuccess : settings.rateHeaders
  const shown = {
    'X-RateLimit-Limit': String(allowance.limit),
    'X-RateLimit-Remaining': String(allowance.remaining),
    'X-RateLimit-Reset': String(Math.ceil(allowance.resetAt / 1000)),
  }
  const wait = { 'Retry-After': String(secondsUntil(allowance.resetAt, now)) }
  return { ...(isShown ? shown : {}), ...(!allowance.allowed && settings.retryAfter ? wait : {}) }
}

/**
 * Whole seconds until `moment`, rounded up and at least 1, so that a client that waits is never
 * early.
 */
export function secondsUntil(moment: number, now: number): number {
  return Math.max(1, Math.ceil((moment - now) / 1000))
}
