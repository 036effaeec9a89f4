import { join } from 'node:path'
import Database from 'better-sqlite3'
import pg from 'pg'
import { describe, inject, test } from 'vitest'
import type { Store } from '../../src/core/store/store.ts'
import { openSqliteStore, type SqliteStoreOptions } from '../../src/store/sqlite/open-sqlite-store.ts'
import { openThreadedStore } from '../../src/store/sqlite/thread/threaded-store.ts'
import { takeCleanSchema } from '../support/clean-schema.ts'
import { openTestPostgres } from '../support/postgres-store.ts'
import { openTestStore } from '../support/test-store.ts'

/**
 * Opens a fresh store. `reopen` opens a second one on the same data, like another process. `tamper`
 * executes SQL past it and without triggers, as somebody would who can write the database.
 */
export type OpenStore = () => Promise<{
  store: Store
  reopen: () => Promise<Store>
  tamper: (...statements: string[]) => Promise<void>
  hasSearchIndexes: boolean
}>

/** Every store that has to keep the contract. A slow one is tested by `npm run test:long`. */
const STORES: { name: string; open: OpenStore; isSlow: boolean }[] = [
  { name: 'the SQLite store on one connection', open: openIn(openSqliteStore), isSlow: false },
  // Each of its tests starts two threads.
  { name: 'the SQLite store with a writer and a reader thread', open: openIn(openThreads), isSlow: true },
  { name: 'the PostgreSQL store', open: openPostgres, isSlow: true },
]

function tamperFile(file: string, statements: readonly string[]): void {
  const db = new Database(file, { timeout: 5_000 })
  const triggers = db.prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'trigger'`).pluck().all()
  for (const name of triggers) db.exec(`DROP TRIGGER ${name}`)
  for (const sql of statements) db.exec(sql)
  db.close()
}

async function tamperSchema({ url, schema }: { url: string; schema: string }, statements: readonly string[]) {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(`SET search_path = ${schema}; SET session_replication_role = replica`)
  const numbers = (generated: string) => client.query(`ALTER TABLE effect ALTER seq SET GENERATED ${generated}`)
  await numbers('BY DEFAULT')
  for (const sql of statements) await client.query(sql)
  await numbers('ALWAYS')
  await client.end()
}

function openThreads(options: SqliteStoreOptions): Store {
  const store = openThreadedStore(options)
  return { ...store, ...store.aside }
}

function openIn(open: (options: SqliteStoreOptions) => Store): OpenStore {
  return async () => {
    const store = openTestStore(undefined, open)
    const tamper = async (...statements: string[]) => tamperFile(join(store.folder, 'upshot.db'), statements)
    return { store, reopen: async () => openTestStore(store.folder, open), tamper, hasSearchIndexes: true }
  }
}

async function openPostgres(): ReturnType<OpenStore> {
  const place = await takeCleanSchema()
  // Its searches read rows where the SQLite store has indexes of subjects and of hours.
  const tamper = (...statements: string[]) => tamperSchema(place, statements)
  return {
    store: await openTestPostgres(place),
    reopen: () => openTestPostgres(place),
    tamper,
    hasSearchIndexes: false,
  }
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Set by vitest.long.config.ts. */
    isLongRun?: true
  }
}

/** A test of the contract names what it uses of a fresh store. */
const testOn = (open: OpenStore) =>
  test
    .extend('opened', () => open())
    .extend('store', ({ opened }) => opened.store)
    .extend('reopen', ({ opened }) => opened.reopen)
    .extend('tamper', ({ opened }) => opened.tamper)
    .extend('hasSearchIndexes', ({ opened }) => opened.hasSearchIndexes)

/** Runs the contract of one noun against every store of this run; `open` gives a second one. */
export function describeStores(describeContract: (test: ReturnType<typeof testOn>, open: OpenStore) => void): void {
  const isLongRun = inject('isLongRun') === true
  const stores = STORES.filter(({ isSlow }) => isSlow === isLongRun)
  describe.each(stores)('$name', ({ open }) => {
    describeContract(testOn(open), open)
  })
}
