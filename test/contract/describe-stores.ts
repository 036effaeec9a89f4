import { describe, inject } from 'vitest'
import type { Store } from '../../src/core/store/store.ts'
import { openSqliteStore, type SqliteStoreOptions } from '../../src/store/sqlite/open-sqlite-store.ts'
import { openThreadedStore } from '../../src/store/sqlite/thread/threaded-store.ts'
import { takeCleanSchema } from '../support/clean-schema.ts'
import { openTestPostgres } from '../support/postgres-store.ts'
import { openTestStore } from '../support/test-store.ts'

/** Opens a fresh store. `reopen` opens a second one on the same data, like another process. */
export type OpenStore = () => Promise<{ store: Store; reopen: () => Promise<Store>; hasSearchIndexes: boolean }>

/** Every store that has to keep the contract. A slow one is tested by `npm run test:long`. */
const STORES: { name: string; open: OpenStore; isSlow: boolean }[] = [
  { name: 'the SQLite store on one connection', open: openIn(openSqliteStore), isSlow: false },
  // Each of its tests starts two threads.
  { name: 'the SQLite store with a writer and a reader thread', open: openIn(openThreads), isSlow: true },
  { name: 'the PostgreSQL store', open: openPostgres, isSlow: true },
]

function openThreads(options: SqliteStoreOptions): Store {
  const store = openThreadedStore(options)
  return { ...store, ...store.aside }
}

function openIn(open: (options: SqliteStoreOptions) => Store): OpenStore {
  return async () => {
    const store = openTestStore(undefined, open)
    return { store, reopen: async () => openTestStore(store.folder, open), hasSearchIndexes: true }
  }
}

async function openPostgres(): ReturnType<OpenStore> {
  const place = await takeCleanSchema()
  // Its searches read rows where the SQLite store has indexes of subjects and of hours.
  return { store: await openTestPostgres(place), reopen: () => openTestPostgres(place), hasSearchIndexes: false }
}

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
    describeContract(open)
  })
}
