import pg from 'pg'
import { onTestFinished } from 'vitest'
import type { Store } from '../../../../src/core/store/store.ts'
import { makeSchema, openTestPostgres } from '../../../support/postgres-store.ts'

/** Two stores on one schema, like two processes, and a session that looks at its rows. */
export async function openTwo(place = makeSchema()): Promise<{ one: Store; two: Store; session: pg.Client }> {
  const [one, two] = [await openTestPostgres(place), await openTestPostgres(place)]
  const session = new pg.Client({ connectionString: place.url, options: `-c search_path=${place.schema}` })
  session.on('error', () => {})
  await session.connect()
  onTestFinished(() => session.end())
  return { one, two, session }
}

/** Resolves once a statement of another session waits for a lock of this one. */
export async function awaitBlocked(session: pg.Client): Promise<void> {
  const blocked = `SELECT 1 FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND application_name = 'upshot' AND $1 = ANY (pg_blocking_pids(pid))`
  const { rows } = await session.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  while ((await session.query(blocked, [rows[0]?.pid])).rowCount === 0);
}
