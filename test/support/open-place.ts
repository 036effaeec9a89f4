import type { Store } from '../../src/core/store/store.ts'
import { openStore } from '../../src/store/open-store.ts'

/** Where a database is; it crosses to other processes as JSON. */
export type Place = { file: string } | { url: string; schema: string }

/** Opens the store of a place, on this thread. */
export function openPlace(place: Place): Promise<Store> {
  const vaultKey = Buffer.alloc(32)
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
