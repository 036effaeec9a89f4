import { z } from 'zod'
import { isPriority, MAX_PRIORITY } from '../core/runs/admission.ts'
import type { Duration } from '../core/time.ts'

import { parseDuration } from '../core/time.ts'

/** At most so many runs at work at the same time. */
export interface ConcurrencyOptions<Cause> {
  limit: number
  /** Counts per key instead of over the whole workflow. */
  key?: (cause: Cause) => string
}

/**
 * At most so many first starts in any stretch of time this long. The others wait; none is dropped.
 */
export interface ThrottleOptions<Cause> {
  limit: number
  per: Duration
  key?: (cause: Cause) => string
}

/** At most one unfinished run; a run that sleeps or waits for a person is unfinished, too. */
export interface SingletonOptions<Cause> {
  key?: (cause: Cause) => string
  /**
   * What becomes of a new run: `skip` (default): it is skipped, and its reason names the one at
   * work; `queue`: it waits; `cancel`: the older one is canceled.
   */
  onConflict?: 'skip' | 'queue' | 'cancel'
}

/** Gathers events into one run, which starts with `size` of them or `wait` after the first. */
export interface BatchOptions<Cause> {
  /** 1 to 10,000. */
  size: number
  wait: Duration
  key?: (cause: Cause) => string
}

/**
 * One run for events in quick succession: it starts when none has come for `wait`, or `max` after
 * the first.
 */
export interface DebounceOptions<Cause> {
  wait: Duration
  /** Default: as long as it takes. */
  max?: Duration
  key?: (cause: Cause) => string
}

export interface TimeoutOptions {
  /** A run that has not started so long after it was made is canceled. */
  start?: Duration
  /** For one attempt of a step; default 5m. */
  step?: Duration
  /** From the run's first start, sleeps included: `signal` aborts and the run fails. */
  run?: Duration
}

/**
 * What limits and orders the runs of a workflow. Keys are pure functions of the event, tick or
 * input that caused the run. They are called when a run is admitted, never while its delivery waits
 * for an answer; one that throws, or gives no text, parks the run for a person.
 */
export interface LimitOptions<Cause> {
  /**
   * Counts runs that are executing. One that sleeps, waits for an event, for its next attempt or
   * for a person gives its slot to the next one, and stands in line again, by its age, when it goes
   * on. With two limits a run needs a slot of both.
   */
  concurrency?:
    | ConcurrencyOptions<Cause>
    | readonly [first: ConcurrencyOptions<Cause>, second: ConcurrencyOptions<Cause>]
  throttle?: ThrottleOptions<Cause>
  /**
   * From -100 to 100, a whole number; higher first, default 0. Orders runs that wait for a worker
   * or in line at a limit.
   */
  priority?: number | ((cause: Cause) => number)
  /** `true`: one unfinished run of the whole workflow, and new ones are skipped. */
  singleton?: true | SingletonOptions<Cause>
}

/** The same of any workflow, as the engine sees it. */
export interface AnyLimits extends LimitOptions<never> {
  batch?: BatchOptions<never> | undefined
  debounce?: DebounceOptions<never> | undefined
}

/** A length of time as an author writes it, in milliseconds. */
export const duration = z.union([z.number(), z.string()]).transform((text, context) => {
  try {
    return parseDuration(text)
  } catch {
    context.addIssue('must be a duration such as "30s" or "5m"')
    return z.NEVER
  }
})

const positiveDuration = duration.refine((ms) => ms > 0, 'must be longer than 0')

export const key = z
  .custom<(cause: never) => string>((value) => typeof value === 'function', 'must be a function')
  .optional()

export const limit = z.int().min(1)

export const concurrency = z.strictObject({ limit, key })

/** Checks of the options, for the definition of a workflow. */
export const limitOptions = {
  concurrency: z.union([concurrency, z.tuple([concurrency, concurrency])]).optional(),
  throttle: z.strictObject({ limit, per: positiveDuration, key }).optional(),
  priority: z
    .custom<number>(
      (value) => typeof value === 'function' || isPriority(value),
      `must be a whole number from -${MAX_PRIORITY} to ${MAX_PRIORITY}, or a function`,
    )
    .optional(),
  singleton: z
    .union([z.literal(true), z.strictObject({ key, onConflict: z.enum(['skip', 'queue', 'cancel']).optional() })])
    .optional(),
  batch: z.strictObject({ size: z.int().min(1).max(10_000), wait: positiveDuration, key }).optional(),
  debounce: z.strictObject({ wait: positiveDuration, max: positiveDuration.optional(), key }).optional(),
  timeout: z
    .strictObject({
      start: positiveDuration.optional(),
      step: duration.optional(),
      run: positiveDuration.optional(),
    })
    .optional(),
}

/** Refuses options that contradict each other. */
export function refuseContradictions(
  { on, batch, debounce, cancelOn }: { on: unknown; batch?: unknown; debounce?: unknown; cancelOn?: unknown },
  context: z.RefinementCtx,
): void {
  const refuse = (option: string, message: string) => context.addIssue({ code: 'custom', path: [option], message })
  const kind = typeof on === 'object' && on !== null && 'kind' in on ? on.kind : 'event'
  if (kind !== 'event' && batch) refuse('batch', 'needs a workflow that events start')
  if (kind !== 'event' && debounce) refuse('debounce', 'needs a workflow that events start')
  if (batch && debounce) refuse('debounce', 'cannot be combined with `batch`')
  if (batch && cancelOn) refuse('cancelOn', 'cannot be combined with `batch`: its runs have several events')
}
