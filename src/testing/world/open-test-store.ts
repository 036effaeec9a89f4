import { randomBytes } from 'node:crypto'
import type { Callbacks } from '../../core/incoming/hook.ts'
import type { Store } from '../../core/store/store.ts'
import { openSqliteStore } from '../../store/sqlite/open-sqlite-store.ts'

interface TestStore {
  store: Store
  /** False where workers are dead by silence only, so that somebody has to tell of their end. */
  seesDeaths: boolean
}

/** The same, with the address and the key of hooks. */
export type OpenedStore = TestStore & { callbacks: Callbacks }

/** Where the URLs of hooks lead. `deliver` posts to the real receiver instead. */
const CALLBACK_ORIGIN = 'https://testbed.invalid'

/** Opens a store for `use`, which fails or closes it. */
export async function openTestStore<T>(
  databaseUrl: string | undefined,
  use: (opened: OpenedStore) => Promise<T>,
): Promise<T> {
  const opened = await (databaseUrl === undefined ? openInMemory() : openInSchema(databaseUrl))
  try {
    const callbacks = { origin: CALLBACK_ORIGIN, key: await opened.store.loadHookKey() }
    return await use({ ...opened, callbacks })
  } catch (error) {
    await opened.store.close()
    throw error
  }
}

function openInMemory(): TestStore {
  const store = openSqliteStore({ file: ':memory:', vaultKey: randomBytes(32) })
  return { store, seesDeaths: true }
}

/** The store in a schema of a PostgreSQL, which is dropped when it closes. */
async function openInSchema(databaseUrl: string): Promise<TestStore> {
  const { openPostgresStore, withSession } = await import('../../store/postgres/open-postgres-store.ts')
  const schema = `upshot_test_${randomBytes(6).toString('hex')}`
  const options = { hosts: [{ connectionString: databaseUrl }], schema, vaultKey: randomBytes(32) }
  const store = await openPostgresStore({ ...options, mayMigrate: true })
  const close = async () => {
    await store.close()
    await withSession(options, (client) =>
      client.query(`SET client_min_messages = warning; DROP SCHEMA ${schema} CASCADE`),
    )
  }
  return { store: { ...store, close }, seesDeaths: false }
}
