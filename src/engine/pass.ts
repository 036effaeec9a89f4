import type { Publish } from '../core/notices.ts'
import type { RetryOptions } from '../core/retry.ts'
import type { ClaimedRun } from '../core/run.ts'
import type { Clock, Duration } from '../core/time.ts'
import type { Journal } from './journal.ts'
import type { Parking } from './parking.ts'

/** One pass of a worker through a run: what every step of it needs. */
export interface Pass {
  run: ClaimedRun
  journal: Journal
  parking: Parking
  /** Aborts when the run is canceled or the process gives up on it. */
  abort: AbortController
  /** Defaults of the workflow for its steps. */
  retry: RetryOptions | undefined
  stepTimeout: Duration | undefined
  clock: Clock
  /** In [0, 1). */
  random: () => number
  publish: Publish
}
