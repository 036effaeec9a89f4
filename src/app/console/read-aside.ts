import type { Store } from '../../core/store/store.ts'
import type { SharedStore } from '../../store/shared-store.ts'

/** The same store, whose reads for people go beside those of the app where it has a way. */
export function readAside(store: Store | SharedStore): Store {
  return 'aside' in store ? { ...store, ...store.aside } : store
}
