import { describe, inject } from 'vitest'
import type { Store } from '../../src/core/store/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts'
import { openThreadedStore } from '../../src/store/sqlite/thread/threaded-store.ts'
import { openTestStore } from '../support/test-store.ts'

/** Opens a fresh store. `reopen` opens a second one on the same data, like another process. */
export type OpenStore = () => { store: Store; reopen: () => Store }

/** Every store that has to keep the contract. A slow one is tested by `npm run test:long`. */
const STORES = [
  { name: 'the SQLite store on one connection', open: openSqliteStore, isSlow: false },
  // Each of its tests starts a thread.
  { name: 'the SQLite store with a writer thread', open: openThreadedStore, isSlow: true },
]

declare module 'vitest' {
  interface ProvidedContext {
    /** Set by vitest.long.config.ts. */
    isLongRun?: true
  }
}

/** Runs the contract of one noun against every store of this run. */
export function describeStores(describeContract: (open: OpenStore) => void): void {
  const isLongRun = inject('isLongRun') === true
  const stores = STORES.filter(({ isSlow }) => isSlow === isLongRun)
  describe.each(stores)('$name', ({ open }) => {
    describeContract(() => {
      const store = openTestStore(undefined, open)
      return { store, reopen: () => openTestStore(store.folder, open) }
    })
  })
}
