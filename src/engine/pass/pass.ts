import type { Route } from '../../core/incoming/route.ts'
import type { Publish } from '../../core/notices.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import type { RetryOptions } from '../../core/runs/retry.ts'
import type { StorageSpellings } from '../../core/service/storage.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock, Duration } from '../../core/time.ts'
import type { EventMatcher } from '../event-matcher.ts'
import type { Journal } from './journal.ts'
import type { Parking } from './parking.ts'

/** What steps read of the store; they write through the journal. */
export type PassStore = Pick<Store, 'readOutput' | 'packOutput' | 'findMatch' | 'findRun' | 'watchRun'>

/** One pass of a worker through a run: what every step of it needs. */
export interface Pass {
  run: ClaimedRun
  journal: Journal
  parking: Parking
  store: PassStore
  matcher: Pick<EventMatcher, 'watch' | 'catchUp'>
  /** How the service spells the storages of the run's account. */
  spellings: StorageSpellings
  /** True when the journal was written by other code than this. */
  isCodeChanged: boolean
  /** Aborts when the run is canceled or the process gives up on it. */
  abort: AbortController
  /** Defaults of the workflow for its steps. */
  retry: RetryOptions | undefined
  stepTimeout: Duration | undefined
  /** When the run's time as a whole is over; null: never. */
  deadline: number | null
  /** What an event of a type starts. */
  routes: () => Promise<readonly Route[]> | readonly Route[]
  clock: Clock
  /** In [0, 1). */
  random: () => number
  publish: Publish
}
