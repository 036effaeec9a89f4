import type { Settings } from '../options.ts'
import type { Allowance } from './rate-limiter.ts'

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
