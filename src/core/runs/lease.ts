import { UpshotError } from '../errors.ts'

/** One worker's claim on one run, while the worker lives and nobody has raised the fence. */
export interface Lease {
  runId: string
  /**
   * Rises with each claim, and where a person changes the run. A write with an older fence is
   * refused with `stale_lease`.
   */
  fence: number
  worker: string
  /**
   * Names the database's history since its last failover; absent in a store without failover. A
   * write that names another one is refused: rows that it builds on may be lost.
   */
  era?: string
}

/** The fence of a run's first claim. */
export const FIRST_FENCE = 1

/** Interval at which a worker reports that it is alive. */
export const HEARTBEAT_MS = 5_000
/**
 * Silence after which a worker counts as dead. A process that ended is noticed at once, by its
 * lock.
 */
export const LEASE_MS = 30_000
/** A run waits for a person when this many processes died while executing it. */
export const MAX_CRASHES = 5
/** Time that a suspect is at work alone. Code that ends its worker mostly does so sooner. */
export const ALONE_MS = 10_000

/** True for the refusal of a write whose run was canceled or taken over. */
export function isStaleLease(error: unknown): boolean {
  return error instanceof UpshotError && error.code === 'stale_lease'
}

/** The refusal of a write under a lease that was raised. */
export function describeStale({ runId }: Pick<Lease, 'runId'>): UpshotError {
  return new UpshotError('stale_lease', `Run ${runId} was canceled or taken over; this worker may not write it.`)
}
