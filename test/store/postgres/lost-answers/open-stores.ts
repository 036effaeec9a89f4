import type pg from 'pg'
import { onTestFinished } from 'vitest'
import type { Store } from '../../../../src/core/store/store.ts'
import { Database } from '../../../../src/store/postgres/database/database.ts'
import { Pool } from '../../../../src/store/postgres/database/pool.ts'
import { openTables, type Tables } from '../../../../src/store/postgres/tables.ts'
import { createWriter } from '../../../../src/store/postgres/writer.ts'
import { createVault } from '../../../../src/store/vault.ts'
import { takeCleanSchema } from '../../../support/clean-schema.ts'
import { openSession, openTestPostgres } from '../../../support/postgres-store.ts'
import { openTestStore } from '../../../support/test-store.ts'
import { FaultyNetwork } from './faulty-network.ts'

/** A statement without an answer for so many milliseconds counts as lost here. */
const ANSWER_MS = 1_500

export interface Stores {
  network: FaultyNetwork
  /** A session that looks at the rows in PostgreSQL. */
  session: pg.Client
  /** PostgreSQL without the network, like another process. */
  direct: Store
  /** PostgreSQL: its writes pass the network, and its reads come from another connection. */
  faulty: Store
  /** SQLite, whose calls have no faults. */
  sound: Store
}

/** Opens both stores, and closes them after the test. */
export async function openStores(
  place?: { url: string; schema: string },
  answerMs: number = ANSWER_MS,
): Promise<Stores> {
  const { url, schema } = place ?? (await takeCleanSchema())
  const network = await FaultyNetwork.open(url)
  const direct = await openTestPostgres({ url, schema })
  const session = await openSession({ url, schema })
  const hosts = [{ connectionString: network.through(url) }]
  const pool = new Pool({ hosts, schema, size: 3, answerMs, prefersIndexes: true })
  const vault = createVault(Buffer.alloc(32))
  const db = new Database<Tables>({ pool, name: 'behind faults' }, (connection) => openTables(connection, vault))
  onTestFinished(() => db.close())
  return { network, session, direct, faulty: { ...direct, ...createWriter(db, () => {}) }, sound: openTestStore() }
}
