import { describe } from 'vitest'
import { openThreadedStore } from '../../src/store/sqlite/thread/threaded-store.ts'
import { openTestStore } from '../support/test-store.ts'
import { describeStore } from './describe-store.ts'

describe('the SQLite store with its writer thread', () => {
  describeStore(() => {
    const store = openTestStore(undefined, openThreadedStore)
    return { store, reopen: () => openTestStore(store.folder, openThreadedStore) }
  })
})
