import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'

/** The app as its resources see it. */
export interface ResourceParts {
  /** Reads and operations of the process's own store. */
  store: Store
  clock: Clock
}
