import type pg from 'pg'
import type { Store } from '../../../../src/core/store/store.ts'
import { takeCleanSchema } from '../../../support/clean-schema.ts'
import { openSession, openTestPostgres } from '../../../support/postgres-store.ts'

interface Place {
  url: string
  schema: string
}

/**
 * Two stores on one schema, like two processes, and a session that looks at its rows. A test that
 * changes tables, or counts what the server reads of them, gives a schema of its own.
 */
export async function openTwo(own?: Place): Promise<{ one: Store; two: Store; session: pg.Client }> {
  const place = own ?? (await takeCleanSchema())
  const [one, two] = [await openTestPostgres(place), await openTestPostgres(place)]
  const session = await openSession(place)
  return { one, two, session }
}

/** Resolves with the sessions whose statements wait for a lock of this one, once there are any. */
export async function awaitBlocked(session: pg.Client): Promise<number[]> {
  const blocked = `SELECT pid FROM pg_stat_activity
    WHERE application_name = 'upshot' AND pg_backend_pid() = ANY (pg_blocking_pids(pid))`
  for (;;) {
    const { rows } = await session.query<{ pid: number }>(blocked)
    if (rows.length > 0) return rows.map(({ pid }) => pid)
  }
}
