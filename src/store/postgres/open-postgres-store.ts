import type pg from 'pg'
import type { Store, StoreWrites } from '../../core/store/store.ts'
import type { WorkerWrites } from '../../core/store/workers.ts'
import { createVault } from '../vault.ts'
import { Database } from './database/database.ts'
import { DirectSession } from './database/direct-session.ts'
import { migrate, requireSchema } from './database/migrate.ts'
import { Pool, type PoolOptions } from './database/pool.ts'
import { translateFault } from './database/postgres-fault.ts'
import { SetupCache } from './incoming/setup-cache.ts'
import { createReader } from './reader.ts'
import { openTables, type Tables } from './tables.ts'
import { createWriter } from './writer.ts'

export interface PostgresStoreOptions {
  /** One for each host of the database, in the order in which they are tried. */
  hosts: readonly pg.ClientConfig[]
  schema: string
  /** 32 bytes that seal the secrets in it. */
  vaultKey: Buffer
  /** True: the schema is made, or brought up to date. False: it must be this version's. */
  mayMigrate: boolean
  /** Most connections for reads and writes; one more listens. Default 4. */
  connections?: number
}

/** The store in a PostgreSQL database, which any number of processes share. See decision 62. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { hosts, schema, vaultKey, mayMigrate, connections = 4 } = options
  const place = describePlace(options)
  const poolOptions: PoolOptions = { hosts, schema, size: connections }
  const vault = createVault(vaultKey)
  const pool = new Pool(poolOptions)
  try {
    const client = await pool.take()
    let isSound = false
    try {
      if (mayMigrate) await migrate(client, schema)
      await requireSchema(client)
      isSound = true
    } finally {
      pool.release(client, isSound)
    }
  } catch (error) {
    await pool.close()
    throw translateFault(error, place)
  }
  const db = new Database<Tables>(pool, place, (connection) => openTables(connection, vault))
  const direct = new DirectSession(poolOptions)
  const setup = new SetupCache(
    () => db.read(async (t) => (await t.setupVersion.get()) ?? 0),
    () => db.read(async (t) => ({ endpoints: await t.endpoints.load(), routes: await t.workflows.routes() })),
  )
  const writer = createWriter(db, () => direct.hint())
  return {
    ...createReader(db, setup, (onChange) => direct.watch(onChange)),
    ...writer,
    ...workerWrites(writer, direct),
    async close() {
      await direct.close()
      await db.close()
    },
  }
}

/** The writes after which the session holds a worker's lock, or gives it back. */
function workerWrites(writer: StoreWrites, direct: DirectSession): Partial<WorkerWrites> {
  return {
    async startWorker(worker, now) {
      await writer.startWorker(worker, now)
      await direct.hold(worker)
    },
    async beatWorker(worker, now) {
      await writer.beatWorker(worker, now)
      await direct.hold(worker)
    },
    async endWorker(worker) {
      const recovery = await writer.endWorker(worker)
      await direct.drop(worker)
      return recovery
    },
    async stopWorker(worker) {
      await writer.stopWorker(worker)
      await direct.drop(worker)
    },
  }
}

/** Host and database, without user and password. */
function describePlace({ hosts, schema }: PostgresStoreOptions): string {
  const names = hosts.map(({ host = 'localhost', port = 5432 }) => `${host}:${port}`)
  return `${hosts[0]?.database ?? ''} on ${[...new Set(names)].join(', ')} (schema ${schema})`
}
