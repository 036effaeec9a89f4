import type { Store } from '../../src/core/store/store.ts'
import { readDatabase } from '../../src/project/config/database-config.ts'
import type { Config } from '../../src/project/config/load-config.ts'
import { openStore } from '../../src/store/open-store.ts'

/** Where a database is; it crosses to other processes as JSON. */
export type Place = { file: string } | { url: string; schema: string }

const vaultKey = Buffer.alloc(32)

/** The database and the key in the configuration of an app; a file is in its data directory. */
export function configOf(place: Place): Pick<Config, 'secretKey' | 'database'> {
  const secretKey = vaultKey.toString('base64')
  if ('file' in place) return { secretKey, database: null }
  const values = { UPSHOT_DATABASE_URL: `${place.url}?schema=${place.schema}`, UPSHOT_DATABASE_CONNECTIONS: 10 }
  return { secretKey, database: readDatabase(values as never, { UPSHOT_SECRET_KEY: secretKey }, []) }
}

/** Opens the store of a place, on this thread. */
export function openPlace(place: Place): Promise<Store> {
  if ('file' in place) return openStore({ ...place, vaultKey })
  return openStore({ hosts: [{ connectionString: place.url }], schema: place.schema, vaultKey })
}

export async function inStore<T>(place: Place, act: (store: Store) => Promise<T>): Promise<T> {
  const store = await openPlace(place)
  try {
    return await act(store)
  } finally {
    await store.close()
  }
}
