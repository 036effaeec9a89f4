import type { Store } from '../../src/core/store/store.ts'
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts'
import { openThreadedStore } from '../../src/store/sqlite/thread/threaded-store.ts'

/** A file of SQLite, or the hosts of a PostgreSQL. */
export type StorePlace = { file: string } | { urls: string[]; schema: string }

/** The same in every process, so that each can read what another wrote. */
const vaultKey = Buffer.alloc(32, 7)

/** Opens a store as the app does. */
export async function openStore(place: StorePlace): Promise<Store> {
  if ('file' in place) return openThreadedStore({ file: place.file, vaultKey })
  const hosts = place.urls.map((url) => ({ connectionString: url }))
  return openPostgresStore({ hosts, schema: place.schema, vaultKey, mayMigrate: true })
}
