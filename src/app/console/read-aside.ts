import type { Store } from '../../core/store/store.ts'
import type { ThreadedStore } from '../../store/sqlite/thread/threaded-store.ts'

/** The same store, whose reads for people run in a thread of their own where it has one. */
export function readAside(store: Store | ThreadedStore): Store {
  return 'aside' in store ? { ...store, ...store.aside } : store
}
