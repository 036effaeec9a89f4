import type { Over } from '../core/safety/guard.ts'
import type { Duration } from '../core/time.ts'

/** The run that a key or priority is computed for. */
export interface KeyedRun {
  /** The account that it acts for; a key that returns it counts each account alone. */
  account: string
}

/**
 * A bound on runs that execute at the same time. Runs that sleep or wait do not count; the others
 * queue, oldest first.
 */
export interface ConcurrencyOptions<Cause> {
  /** Runs at the same time, 1 or more. */
  limit: number
  /**
   * Counts separately for each key: a pure function that returns up to 500 characters. Default: one
   * count for all runs.
   */
  key?: (cause: Cause, run: KeyedRun) => string
}

/** A bound on first starts within any window of time. The other runs queue; none is dropped. */
export interface ThrottleOptions<Cause> {
  /** Starts within the window, 1 or more. */
  limit: number
  /** Length of the window, more than 0. It slides: it begins at no fixed moment. */
  per: Duration
  /**
   * Counts separately for each key: a pure function that returns up to 500 characters. Default: one
   * count for all runs.
   */
  key?: (cause: Cause, run: KeyedRun) => string
}

/** At most one unfinished run. A run that sleeps, waits or needs a person is unfinished, too. */
export interface SingletonOptions<Cause> {
  /**
   * One unfinished run for each key: a pure function that returns up to 500 characters. Default:
   * one for the whole workflow.
   */
  key?: (cause: Cause, run: KeyedRun) => string
  /**
   * The rule for a new run beside an unfinished one. Default `skip`.
   *
   * `skip`: the new run is skipped, and its reason names the other one. `queue`: it waits.
   * `cancel`: the older run is canceled.
   */
  onConflict?: 'skip' | 'queue' | 'cancel'
}

/**
 * Gathers events into one run. It starts when `size` events are there, or `wait` after the first
 * one.
 */
export interface BatchOptions<Cause, Size = number> {
  /** Events of a full batch, 1 to 10,000. */
  size: Size
  /** Longest time between the first event and the start, more than 0. */
  wait: Duration
  /**
   * Gathers separately for each key: a pure function that returns up to 500 characters. Events of
   * two accounts never share a run.
   */
  key?: (cause: Cause, run: KeyedRun) => string
}

/**
 * Folds events in quick succession into one run, which gets the newest one. It starts when no event
 * has come for `wait`.
 */
export interface DebounceOptions<Cause, Silence = Duration> {
  /** Silence before the start, more than 0. */
  wait: Silence
  /** Longest time between the first event and the start, more than 0. Default: no bound. */
  max?: Duration
  /**
   * Folds separately for each key: a pure function that returns up to 500 characters. Events of two
   * accounts never share a run.
   */
  key?: (cause: Cause, run: KeyedRun) => string
}

/** Time limits of a run and its steps. */
export interface TimeoutOptions {
  /** Longest time from the run's creation to its start; then it is canceled. Default: no limit. */
  start?: Duration
  /** Longest time for one attempt of a step, unless the step sets its own. Default 5m. */
  step?: Duration
  /**
   * Longest time from the run's first start, sleeps included; then `signal` aborts and the run
   * fails. Default: no limit.
   */
  run?: Duration
}

/**
 * How many runs, how fast, and in which order.
 *
 * Keys and priorities are pure functions of the event, tick or input. They are called when a run is
 * admitted, after its delivery was answered. One that throws, or returns no text, makes the run
 * wait for a person.
 */
export interface LimitOptions<Cause> {
  /**
   * Bounds the runs that execute at the same time. With two bounds a run needs a slot in both.
   *
   * A run that sleeps or waits gives its slot to the next one. It queues again, by its age, when
   * it goes on. Default: no bound but the app's `slots`.
   */
  concurrency?:
    | ConcurrencyOptions<Cause>
    | readonly [first: ConcurrencyOptions<Cause>, second: ConcurrencyOptions<Cause>]
  /** Bounds the first starts within any window of time. Default: no bound. */
  throttle?: ThrottleOptions<Cause>
  /**
   * A whole number from -100 to 100, or a function that returns one; higher runs first. Orders runs
   * that wait for a worker or at a limit. Default 0.
   */
  priority?: number | ((cause: Cause, run: KeyedRun) => number)
  /**
   * At most one unfinished run. `true`: of the whole workflow, and new ones are skipped. Default:
   * no bound.
   */
  singleton?: true | SingletonOptions<Cause>
}

/** Bounds on one run. */
export interface RunLimits {
  /**
   * Most steps of a run, 1 to 10,000,000. One more, and it waits for a person: most likely its code
   * loops without end. Default 100,000.
   */
  steps?: number
}

/** Bounds on effects. Windows slide; left out: no bound. */
export interface CountGuard {
  /** Effects of one run. Default: no bound. */
  perRun?: number
  /** Effects within any hour, of all runs. Default: no bound. */
  perHour?: number
  /** Effects within any day, of all runs. Default: no bound. */
  perDay?: number
}

/** Bounds on bytes, as a number or a text such as `50 GB`. */
export interface SizeGuard {
  /** Bytes of one run. Default: no bound. */
  perRun?: number | string
  /** Bytes within any hour, of all runs. Default: no bound. */
  perHour?: number | string
  /** Bytes within any day, of all runs. Default: no bound. */
  perDay?: number | string
}

/** Bounds on deletes, also as a share of what the run has listed. */
export interface DeleteGuard extends CountGuard {
  /**
   * Largest part of the files that a run has listed in a folder and below it. As text, such as
   * `5%`. Default: no bound.
   */
  share?: string
  /** The share counts once the run has listed so many of them. Default 1. */
  shareFrom?: number
}

/** Bounds of one scope. */
export interface ScopeGuard {
  /** Bounds on deletes. */
  deletes?: CountGuard
  /** Bounds on the bytes of deleted files. */
  bytes?: SizeGuard
  /** Bounds on writes. With one, each write asks before it begins, which costs a commit. */
  writes?: CountGuard
}

/**
 * The most that a workflow expects to delete and write. It replaces `guard.workflow` of the project
 * for this workflow; the bounds for all, an account or a storage stay.
 */
export interface WorkflowGuard extends Omit<ScopeGuard, 'deletes'> {
  /** Bounds on deletes. */
  deletes?: DeleteGuard
  /**
   * The rule for an effect over a bound. `approve`: it waits until a person approves it. `wait`:
   * until the window has room. `fail`: the step fails with the code `denied`. Default `approve`.
   */
  over?: Over
}

/** The limits of any workflow, as the engine sees them. */
export interface AnyLimits extends LimitOptions<never> {
  batch?: BatchOptions<never> | undefined
  debounce?: DebounceOptions<never> | undefined
}
