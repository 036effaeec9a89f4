import { RetryAt, StepError, TerminalError } from '../errors.ts'
import { type Duration, parseDuration } from '../time.ts'

/** How often and how soon to try again. */
interface RetryPolicy {
  /** Tries in all, the first one included. */
  attempts: number
  /**
   * Bounds of the pause: it doubles from `minMs` up to `maxMs`, and a random part of it is taken
   * (full jitter).
   */
  minMs: number
  maxMs: number
}

/** The same as an author writes it. */
export interface RetryOptions {
  /** Default 4. */
  attempts?: number
  /** Default 1s. */
  min?: Duration
  /** Default 5m. */
  max?: Duration
}

/** Beyond it every pause has reached its bound, and numbers end. */
const MAX_DOUBLINGS = 50

const DEFAULT_POLICY: RetryPolicy = { attempts: 4, minMs: 1_000, maxMs: 300_000 }

/** The policy of a step: its own options, then its workflow's, then the defaults. */
export function planRetries(...options: (RetryOptions | undefined)[]): RetryPolicy {
  const merged = Object.assign({}, ...options.toReversed()) as RetryOptions
  return {
    attempts: merged.attempts ?? DEFAULT_POLICY.attempts,
    minMs: merged.min === undefined ? DEFAULT_POLICY.minMs : parseDuration(merged.min),
    maxMs: merged.max === undefined ? DEFAULT_POLICY.maxMs : parseDuration(merged.max),
  }
}

/** Thrown by an author: the next attempt comes after `duration`, never earlier. */
export class RetryAfter extends Error {
  override readonly name = 'RetryAfter'
  readonly durationMs: number

  /** Throws `invalid_duration`. */
  constructor(duration: Duration, message = 'asked to try again later', options: { cause?: unknown } = {}) {
    super(message, options)
    this.durationMs = parseDuration(duration)
  }
}

type RetryDecision =
  /**
   * `counts` is false when a server or the author named a moment to come: waiting as told is no
   * failed attempt.
   */
  { kind: 'retry'; at: number; counts: boolean } | { kind: 'give_up' }

/**
 * What follows a failed attempt. A moment named by the error is never shortened. `random` is in [0,
 * 1).
 */
export function decideRetry(failure: {
  error: unknown
  /** Counted from 1. */
  attempt: number
  policy: RetryPolicy
  now: number
  random: number
}): RetryDecision {
  const { error, attempt, policy, now, random } = failure
  if (error instanceof TerminalError || error instanceof StepError || isMarkedFinal(error)) return { kind: 'give_up' }
  const named = namedMoment(error, now)
  // A moment that has come is no wait: taken for one, it would repeat for ever without a pause.
  if (named !== null && named > now) return { kind: 'retry', at: named, counts: false }
  if (attempt >= policy.attempts) return { kind: 'give_up' }
  const ceilingMs = Math.min(policy.maxMs, policy.minMs * 2 ** Math.min(attempt - 1, MAX_DOUBLINGS))
  return { kind: 'retry', at: now + Math.round(random * ceilingMs), counts: true }
}

/**
 * `RetryAt`, `RetryAfter`, and any error with a `retryAt` in epoch milliseconds, as the Files
 * client throws them.
 */
function namedMoment(error: unknown, now: number): number | null {
  if (error instanceof RetryAfter) return now + error.durationMs
  const given = error instanceof Error && 'retryAt' in error ? error.retryAt : null
  const moment = error instanceof RetryAt ? error.moment : given
  return typeof moment === 'number' && Number.isFinite(moment) ? moment : null
}

/**
 * Clients say of an error whether trying again can help; a plain error says nothing and is tried
 * again.
 */
function isMarkedFinal(error: unknown): boolean {
  return error instanceof Error && 'retryable' in error && error.retryable === false
}
