import pg from 'pg'
import { onTestFinished } from 'vitest'
import { makeDatabase, openTestPostgres } from '../../../support/postgres-store.ts'

/** A store in a database of its own, and a client that writes there past it. */
export async function openWithClient() {
  const place = await makeDatabase()
  const store = await openTestPostgres(place)
  const client = new pg.Client({ connectionString: place.url, options: `-c search_path=${place.schema}` })
  await client.connect()
  onTestFinished(() => client.end())
  return { store, client }
}
