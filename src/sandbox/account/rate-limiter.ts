import type { Settings } from '../state/live-settings.ts'

/** Section 8: requests per minute and burst of each plan. */
export const PLAN_LIMITS = {
  free: { perMinute: 60, burst: 100 },
  pro: { perMinute: 300, burst: 500 },
  enterprise: { perMinute: 1000, burst: 2000 },
  unlimited: null,
} as const satisfies Record<Settings['plan'], { perMinute: number; burst: number } | null>

export interface Allowance {
  allowed: boolean
  /** Requests per minute. */
  limit: number
  /** Whole requests left right now. */
  remaining: number
  /** When the next request is allowed, epoch milliseconds. */
  resetAt: number
}

/**
 * Counted in time, so that no fraction is ever rounded: a request costs the time in which the plan
 * allows one.
 */
interface Bucket {
  creditMs: number
  filledAt: number
}

/** A key that has not called for this many other keys starts with a full bucket again. */
const MAX_BUCKETS = 10_000

/**
 * One bucket per key: as many tokens as the plan's burst, refilled by the plan's number per minute.
 */
export class RateLimiter {
  /** Least recently used first. */
  readonly #buckets = new Map<string, Bucket>()

  /** Takes one request out of the key's bucket; null where the plan has no limit. */
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

  /** Every key has a full bucket again. */
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
 * What a reply says about the caller's allowance, as the settings let it (section 8, rules 2 and
 * 3).
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

/** Whole seconds, rounded up, and never 0: whoever waits so long comes late enough. */
export function secondsUntil(moment: number, now: number): number {
  return Math.max(1, Math.ceil((moment - now) / 1000))
}
