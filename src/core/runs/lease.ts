/**
 * One worker's claim on one run. It holds while the worker is alive and nobody raised the run's
 * fence.
 */
export interface Lease {
  runId: string
  /** Rises with each claim; a write that carries an older one is refused with `stale_lease`. */
  fence: number
  worker: string
}

/** That of a run's first claim. */
export const FIRST_FENCE = 1

/** A worker says that it is alive this often … */
export const HEARTBEAT_MS = 5_000
/**
 * … and is taken for dead when it has not for this long. A dead process is noticed at once, by its
 * lock.
 */
export const LEASE_MS = 30_000
/**
 * A run whose process died this often while working on it waits for a person instead of the next
 * death.
 */
export const MAX_CRASHES = 5
