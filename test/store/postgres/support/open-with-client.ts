import { makeDatabase, openSession, openTestPostgres } from '../../../support/postgres-store.ts'

/** A store in a database of its own, and a client that writes there past it. */
export async function openWithClient() {
  const place = await makeDatabase()
  const store = await openTestPostgres(place)
  const client = await openSession(place)
  return { store, client }
}
