import { describe } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts'
import { openTestStore } from '../support/test-store.ts'
import { describeStore } from './describe-store.ts'

describe('the SQLite store on one connection', () => {
  describeStore(() => {
    const store = openTestStore(undefined, openSqliteStore)
    return { store, reopen: () => openTestStore(store.folder, openSqliteStore) }
  })
})
