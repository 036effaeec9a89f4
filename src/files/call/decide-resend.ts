import { type FilesError, LocalRateLimitError, NotFoundError, ProtocolError, RateLimitError } from '../errors.ts'

export interface ResendPolicy {
  /** Tries in all. */
  attempts: number
  baseMs: number
  capMs: number
  maxWaitMs: number
}

/** `throttled`: resend only what the service surely did not carry out. */
export type Resend = 'any' | 'throttled'

export type ResendDecision = { kind: 'resend'; at: number; isThrottled: boolean } | { kind: 'give_up' }

/**
 * Told to wait, we come up to this much later than allowed, so that many clients do not come at
 * once.
 */
const SPREAD_MS = 1_000

/**
 * Whether a failed attempt is followed by another, and when. A moment that the server named is
 * never shortened.
 */
export function decideResend(tried: {
  error: FilesError
  resend: Resend
  /** Attempts up to now, this one included, and how many of them brought an unreadable body. */
  tries: number
  unreadable: number
  policy: ResendPolicy
  now: number
  deadlineAt: number
  /** In [0, 1). */
  random: number
}): ResendDecision {
  const { error, policy, now } = tried
  const isThrottled = error instanceof RateLimitError
  const mayResend = isThrottled || (tried.resend === 'any' && isTransient(error))
  if (!mayResend || tried.tries >= policy.attempts) return { kind: 'give_up' }
  if (error instanceof ProtocolError && tried.unreadable > 1) return { kind: 'give_up' }
  const earliest = Math.max(now, error.retryAt ?? now)
  const ceilingMs = Math.min(policy.capMs, policy.baseMs * 2 ** (tried.tries - 1))
  const spreadMs = error.retryAt === null ? ceilingMs : earliest === now ? 0 : SPREAD_MS
  const at = earliest + Math.round(tried.random * spreadMs)
  const isTooLong = earliest - now > policy.maxWaitMs || at >= tried.deadlineAt
  return isTooLong ? { kind: 'give_up' } : { kind: 'resend', at, isThrottled }
}

/**
 * Faults that may be gone at the next attempt. Our own limiter's refusal is final for the call: it
 * names a later moment.
 */
export function isTransient(error: FilesError): boolean {
  return error.retryable && !(error instanceof LocalRateLimitError) && error.name !== 'AbortedError'
}

/**
 * A 404 of the service itself; a proxy's page or an unknown route carries no code and proves
 * nothing.
 */
export function isProvenMissing(error: unknown): boolean {
  return error instanceof NotFoundError && error.code !== null
}
