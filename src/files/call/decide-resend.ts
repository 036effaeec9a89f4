import { AuthenticationError, type FilesError, LocalRateLimitError, NotFoundError, ProtocolError } from '../errors.ts'

/** How often and how late a request is sent again; times are in milliseconds. */
export interface ResendPolicy {
  /** Attempts per call, the first included. */
  attempts: number
  /** The largest first pause; it doubles with each attempt. */
  baseMs: number
  /** The largest pause. */
  capMs: number
  /** A longer wait that the server asks for ends the call. */
  maxWaitMs: number
}

/** A failed attempt, and how many there were. */
export interface Tried {
  error: FilesError
  /** Attempts so far, this one included. */
  tries: number
  /** Attempts whose body could not be read. Default 0. */
  unreadable?: number
}

interface Situation {
  policy: ResendPolicy
  now: number
  /** Epoch milliseconds: a resend at or after it comes too late. */
  deadlineAt: number
  /** In [0, 1). */
  random: number
}

/** Random delay added to a moment that the server named, so that clients return one by one. */
const SPREAD_MS = 1_000

/**
 * The moment at which to resend a failed request; null: never. It never shortens a wait that the
 * server named.
 */
export function decideResend(
  { error, tries, unreadable = 0 }: Tried,
  { policy, now, deadlineAt, random }: Situation,
): number | null {
  if (!isTransient(error) || tries >= policy.attempts) return null
  if (error instanceof ProtocolError && unreadable > 1) return null
  const earliest = Math.max(now, error.retryAt ?? now)
  const ceilingMs = Math.min(policy.capMs, policy.baseMs * 2 ** (tries - 1))
  // "Now" is no pause: a server that says it for ever is retried like one that says nothing.
  const spreadMs = error.retryAt === null || earliest === now ? ceilingMs : SPREAD_MS
  const at = earliest + Math.round(random * spreadMs)
  const isTooLong = earliest - now > policy.maxWaitMs || at >= deadlineAt
  return isTooLong ? null : at
}

/**
 * Failures that another attempt may pass. The client's own limiter and refused keys are final: they
 * name a later moment.
 */
export function isTransient(error: FilesError): boolean {
  const isFinal = error instanceof LocalRateLimitError || error instanceof AuthenticationError
  return error.retryable && !isFinal && error.name !== 'AbortedError'
}

/** Codes that speak of the entry, not of a route, a storage or an account. */
const MISSING =
  /^((resource|file|folder|entry|item|object)_?)?not_?found$|^no_?such_?(file|folder|entry|item|object|key)$/i

/**
 * A 404 by which the service itself says that there is no entry. Without such a code it comes
 * from a proxy, or means a route or a storage that is gone.
 */
export function isProvenMissing(error: unknown): error is NotFoundError {
  return error instanceof NotFoundError && error.code !== null && MISSING.test(error.code)
}
