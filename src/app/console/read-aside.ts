import type { Publish } from '../../core/notices.ts'
import type { ListReads, Store } from '../../core/store/store.ts'
import type { SharedStore } from '../../store/shared-store.ts'

/** The same store, whose reads for people go beside those of the app where it has a way. */
export function readAside(store: Store | SharedStore): Store {
  return 'aside' in store ? { ...store, ...store.aside } : store
}

/** Opens the reads of a list: from a standby where one is set, else as {@link readAside} does. */
export function listOpener(store: Store | SharedStore, publish: Publish): () => Promise<ListReads> {
  const { openLists } = store as Partial<SharedStore>
  if (openLists === undefined) {
    const aside = readAside(store)
    return async () => aside
  }
  return () =>
    openLists((change) =>
      publish(
        change.kind === 'left'
          ? { kind: 'store.standby_left', why: change.why }
          : { kind: 'store.standby_back', ms: change.ms },
      ),
    )
}
