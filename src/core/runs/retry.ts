import { type Failure, isA, readProperty, StepError, TerminalError, UpshotError } from '../errors.ts'
import { type Duration, isMoment, parseDuration, parseMoment } from '../time.ts'

/** `RetryOptions` with every default filled in. */
interface RetryPolicy {
  /** Attempts in all, the first one included. */
  attempts: number
  /** The pause before a retry is random, up to a bound that doubles from `minMs` to `maxMs`. */
  minMs: number
  maxMs: number
}

/**
 * How often and how soon a failed attempt is repeated.
 *
 * The pause is random, between nothing and a bound. The bound starts at `min` and doubles with each
 * attempt, up to `max`.
 */
export interface RetryOptions {
  /** Attempts in all, the first one included; a whole number, 1 or more. Default 4. */
  attempts?: number
  /** Bound of the first pause. Default 1s. */
  min?: Duration
  /** Largest bound of a pause. Default 5m. */
  max?: Duration
}

/** Doublings after which every pause has reached its bound; more would overflow. */
const MAX_DOUBLINGS = 50

const DEFAULT_POLICY: RetryPolicy = { attempts: 4, minMs: 1_000, maxMs: 300_000 }

/**
 * The policy of a step: its own options first, then its workflow's, then the defaults. Throws
 * `invalid_workflow` or `invalid_duration` for options that are not valid.
 */
export function planRetries(...options: (RetryOptions | undefined)[]): RetryPolicy {
  // An option that is undefined is left out: JavaScript, and loose TypeScript, may spell it so.
  const first = <Name extends keyof RetryOptions>(name: Name) =>
    options.find((each) => each?.[name] !== undefined)?.[name]
  const [attempts, min, max] = [first('attempts'), first('min'), first('max')]
  return {
    attempts: attempts === undefined ? DEFAULT_POLICY.attempts : parseAttempts(attempts, 'retry.attempts'),
    minMs: min === undefined ? DEFAULT_POLICY.minMs : parseDuration(min, 'retry.min'),
    maxMs: max === undefined ? DEFAULT_POLICY.maxMs : parseDuration(max, 'retry.max'),
  }
}

/** The number itself; throws `invalid_workflow` for anything but a whole number from 1. */
export function parseAttempts(attempts: number, option: string): number {
  if (Number.isSafeInteger(attempts) && attempts >= 1) return attempts
  throw new UpshotError('invalid_workflow', `${option}: "${attempts}" is not a whole number of attempts, 1 or more.`)
}

/**
 * Throw it to name the pause before the next attempt. The pause is never shortened, and the attempt
 * that threw does not count as failed.
 */
export class RetryAfter extends Error {
  override readonly name = 'RetryAfter'
  /** Length of the pause in milliseconds. */
  readonly durationMs: number

  /** Throws `invalid_duration`. */
  constructor(duration: Duration, message = 'asked to try again later', options: { cause?: unknown } = {}) {
    super(message, options)
    this.durationMs = parseDuration(duration, 'RetryAfter')
  }
}

/** Why a run is parked until a step is tried again; the name of the step follows. */
export const NEXT_ATTEMPT_REASON = 'next attempt of step'

/** The Files client let a call wait for its own limit, and has sent nothing. */
export function waitsForLimit({ name }: Pick<Failure, 'name'>): boolean {
  return name === 'LocalRateLimitError'
}

type RetryDecision =
  /**
   * `counts` is false when the error named a time to come: that attempt does not count as failed.
   */
  { kind: 'retry'; at: number; counts: boolean } | { kind: 'give_up' }

/**
 * Decides about another attempt. A time that the error names is never shortened; `random` is in [0,
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
  if (isA(error, TerminalError) || isA(error, StepError) || isMarkedFinal(error)) return { kind: 'give_up' }
  const named = namedMoment(error, now)
  // A time that has passed counts as a failure, or the step would repeat without a pause for ever.
  if (named !== null && named > now) return { kind: 'retry', at: named, counts: false }
  if (attempt >= policy.attempts) return { kind: 'give_up' }
  const ceilingMs = Math.min(policy.maxMs, policy.minMs * 2 ** Math.min(attempt - 1, MAX_DOUBLINGS))
  return { kind: 'retry', at: now + Math.round(random * ceilingMs), counts: true }
}

/**
 * The time named by `RetryAt`, by `RetryAfter`, or by an error's `retryAt` (epoch milliseconds), as
 * the Files client sets it.
 */
function namedMoment(error: unknown, now: number): number | null {
  if (!isA(error, Error)) return null
  const pauseMs = isA(error, RetryAfter) ? readProperty(error, 'durationMs') : undefined
  const named = readProperty(error, isA(error, RetryAt) ? 'moment' : 'retryAt')
  const moment = typeof pauseMs === 'number' ? now + pauseMs : named
  return isMoment(moment) ? Math.ceil(moment) : null
}

/** True for an error with `retryable: false`; errors without that property are retried. */
function isMarkedFinal(error: unknown): boolean {
  return isA(error, Error) && readProperty(error, 'retryable') === false
}

/**
 * Throw it to name the time of the next attempt. The attempt is never made earlier, and the one
 * that threw does not count as failed.
 */
export class RetryAt extends Error {
  override readonly name = 'RetryAt'
  /** Time of the next attempt, in epoch milliseconds. */
  readonly moment: number

  /**
   * `moment` is a date or epoch milliseconds; a time that has passed counts as an ordinary failure.
   * Throws `invalid_duration` for an invalid date.
   */
  constructor(moment: number | Date, message = 'asked to try again later', options: { cause?: unknown } = {}) {
    super(message, options)
    this.moment = parseMoment(moment, 'RetryAt')
  }
}
