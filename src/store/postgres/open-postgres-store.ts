import { AsyncLocalStorage } from 'node:async_hooks'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import pg from 'pg'
import { CommitCounts } from '../../core/commit-counts.ts'
import type { ReadStore, Store, StoreWrites } from '../../core/store/store.ts'
import type { OpenLists, Reader, SharedStore } from '../shared-store.ts'
import { createVault } from '../vault.ts'
import { Database } from './database/database.ts'
import { DirectSession, type Session } from './database/direct-session.ts'
import { type Migration, migrate, requireSchema, requireServer } from './database/migrate.ts'
import { Pool, type PoolOptions } from './database/pool.ts'
import { translateFault } from './database/postgres-fault.ts'
import { PortSession, serveSession } from './database/session-port.ts'
import { askClock, createReader } from './reads/reader.ts'
import { openStandby, type Standby } from './reads/standby.ts'
import { openTables, type Tables } from './tables.ts'
import { createWriter } from './writer.ts'

/** Where the database is, and how much of it a process uses. All of it crosses to threads. */
export interface PostgresStoreOptions {
  /** One for each host of the database, in the order in which they are tried. */
  hosts: readonly pg.ClientConfig[]
  /** The same without a pooler between, for the session that listens. Default: `hosts`. */
  directHosts?: readonly pg.ClientConfig[] | null
  /** Hot standbys that answer lists, in the order in which they are tried. Default: none. */
  readHosts?: readonly pg.ClientConfig[] | null
  /** A list waits so long for a standby to catch up, in milliseconds. Default 500. */
  behindMs?: number
  schema: string
  /** 32 bytes that seal the secrets in it. */
  vaultKey: Buffer
  /** True: the schema is made, or brought up to date. Default: it must be this version's. */
  mayMigrate?: boolean
  /** Most connections, without the one that listens. Default 4, 2 and 4. */
  connections?: { own: number; aside: number; engine: number }
  /** Memory of a `CommitCounts`, to which each commit is added. Default: none is counted. */
  commits?: SharedArrayBuffer
}

const CONNECTIONS = { own: 4, aside: 2, engine: 4 }
/** Searches and commands of people may take longer than the calls of an app; in milliseconds. */
const PATIENT_MS = 30_000

/** An engine keeps the results of its steps for so long before it gives up to save them. */
const STEADY_MS = 30_000

/** A standby on a sound network is a few milliseconds behind. */
const BEHIND_MS = 500

type Pooled = Pick<PoolOptions, 'size' | 'answerMs' | 'isReadOnly'>

/** The store in a PostgreSQL database, which any number of processes share. See decision 62. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { connections = CONNECTIONS } = options
  const db = await openChecked(options, { size: connections.own, answerMs: PATIENT_MS })
  return createStore(db, openSession(options))
}

/** The reads alone, in sessions in which the server refuses every write. */
export async function openPostgresReader(options: PostgresStoreOptions): Promise<Reader> {
  const { connections = CONNECTIONS } = options
  const pooled = { size: connections.own, answerMs: PATIENT_MS, isReadOnly: true }
  const db = await openChecked({ ...options, mayMigrate: false }, pooled)
  const session = openSession(options)
  const close = async () => {
    await session.close()
    await db.close()
  }
  return withStandby({ ...createReads(db, session), close }, options, db)
}

/** The store of an app, whose session other threads may use as well. */
export async function openSharedPostgresStore(options: PostgresStoreOptions): Promise<SharedStore> {
  const { connections = CONNECTIONS } = options
  const db = await openChecked(options, { size: connections.own })
  const session = openSession(options)
  const store = createStore(db, session)
  const aside = createDatabase(options, createPool(options, { size: connections.aside, answerMs: PATIENT_MS }))
  const shared: SharedStore = {
    ...store,
    aside: createReads(aside, session),
    connect() {
      const { port1, port2 } = new MessageChannel()
      serveSession(session, port2)
      return { port: port1, cut: () => port2.close() }
    },
    async close() {
      await Promise.all([store.close(), aside.close()])
    },
  }
  return withStandby(shared, options, aside)
}

/** A store whose lists come from the standby, if one is set. Closes it if that one is wrong. */
async function withStandby<Open extends Pick<Store, 'close'>>(
  store: Open,
  options: PostgresStoreOptions,
  primary: Database<Tables>,
): Promise<Open & { openLists?: OpenLists }> {
  if (!options.readHosts) return store
  try {
    const standby = await connectStandby(options, options.readHosts, primary)
    const close = async () => void (await Promise.all([store.close(), standby.close()]))
    return { ...store, openLists: standby.openLists, close }
  } catch (error) {
    await store.close()
    throw error
  }
}

function connectStandby(
  options: PostgresStoreOptions,
  hosts: readonly pg.ClientConfig[],
  primary: Database<Tables>,
): Promise<Standby> {
  const { schema, vaultKey, behindMs = BEHIND_MS, connections = CONNECTIONS } = options
  // Its waits are not counted: they are no want of connections.
  const openDatabase = (pool: Pool) => createDatabase({ hosts, schema, vaultKey }, pool, { repeatMs: 0 })
  return openStandby({ hosts, schema, size: connections.aside, primary, openDatabase, behindMs })
}

/**
 * Milliseconds until the standby had all that the primary had committed; null where none is set.
 * Throws where it cannot answer lists now.
 */
export async function inspectStandby(options: PostgresStoreOptions): Promise<number | null> {
  if (!options.readHosts) return null
  const db = await openChecked(options, { size: 2, answerMs: PATIENT_MS, isReadOnly: true })
  try {
    const standby = await connectStandby(options, options.readHosts, db)
    try {
      return await standby.catchUp()
    } finally {
      await standby.close()
    }
  } finally {
    await db.close()
  }
}

/** The store of another thread: connections of its own, and the session of its owner. */
export function openConnectedPostgresStore(options: PostgresStoreOptions, port: MessagePort): Store {
  const { connections = CONNECTIONS } = options
  const pool = createPool(options, { size: connections.engine })
  const db = createDatabase(options, pool, { lane: 1, repeatMs: STEADY_MS })
  // It is the first question of an engine: a process that finds no connection at its start says so.
  return { ...createStore(db, new PortSession(port)), readClock: () => db.probe(askClock) }
}

/** Makes the schema, or brings it up to date; the app may be running. */
export function migratePostgres(options: PostgresStoreOptions): Promise<Migration> {
  return withSession(options, (client) => migrate(client, options.schema))
}

/** A session for work on the whole database, whose statements may take long. Default: any time. */
export async function withSession<T>(
  options: PostgresStoreOptions,
  use: (client: pg.Client, place: string) => Promise<T>,
  answerMs = 0,
): Promise<T> {
  const pool = new Pool({ hosts: options.hosts, schema: options.schema, size: 1, answerMs })
  try {
    return await withFirst(options, pool, (client) => use(client, describePlace(options)))
  } finally {
    await pool.close()
  }
}

/** Throws `invalid_config` where server or schema are not what this version works with. */
async function openChecked(options: PostgresStoreOptions, pooled: Pooled): Promise<Database<Tables>> {
  if (options.mayMigrate) await migratePostgres(options)
  const pool = createPool(options, pooled)
  try {
    await withFirst(options, pool, (client) => requireSchema(client, describePlace(options)))
    return createDatabase(options, pool)
  } catch (error) {
    await pool.close()
    throw error
  }
}

/** Uses the first session of a pool, with a server that is new enough. */
async function withFirst<T>(options: PostgresStoreOptions, pool: Pool, use: (client: pg.Client) => Promise<T>) {
  const place = describePlace(options)
  try {
    const client = await pool.take()
    try {
      await requireServer(client, place)
      return await use(client)
    } finally {
      pool.release(client, true)
    }
  } catch (error) {
    throw translateFault(error, place)
  }
}

function createDatabase(
  options: PostgresStoreOptions,
  pool: Pool,
  { lane = 0, ...more }: { lane?: number; repeatMs?: number } = {},
): Database<Tables> {
  const { vaultKey, commits } = options
  const counts = commits === undefined ? null : new CommitCounts(commits, lane)
  // A key that crossed to this thread is no Buffer any more.
  const vault = createVault(Buffer.from(vaultKey))
  const place = { pool, name: describePlace(options), counts, ...more }
  return new Database<Tables>(place, (connection) => openTables(connection, vault))
}

function createPool({ hosts, schema }: PostgresStoreOptions, pooled: Pooled): Pool {
  return new Pool({ hosts, schema, prefersIndexes: true, ...pooled })
}

function openSession({ hosts, directHosts, schema, commits }: PostgresStoreOptions): Session {
  const counts = commits === undefined ? null : new CommitCounts(commits)
  return new DirectSession({ hosts: directHosts ?? hosts, schema, size: 1 }, counts)
}

function createStore(db: Database<Tables>, session: Session): Store {
  const writer = createWriter(db, () => session.hint())
  return apart({
    ...createReads(db, session),
    ...writer,
    ...workerWrites(writer, session),
    async close() {
      await session.close()
      await db.close()
    },
  })
}

/**
 * The same store, whose timers and messages belong to no caller. Else the engine would count them
 * as work of the author's code, as one message carries calls of many runs.
 */
function apart(store: Store): Store {
  const enter = AsyncLocalStorage.snapshot()
  const methods = Object.entries(store).map(([name, method]) => [
    name,
    (...args: unknown[]) => enter(method as (...args: unknown[]) => unknown, ...args),
  ])
  return Object.fromEntries(methods)
}

function createReads(db: Database<Tables>, session: Session): ReadStore {
  return createReader(db, (onChange) => session.watch(onChange))
}

/** The writes that go by the session, or after which it holds a worker's lock or gives it back. */
function workerWrites(writer: StoreWrites, session: Session): Partial<StoreWrites> {
  return {
    recoverRuns: (now, leaseMs) => writer.recoverRuns(now, leaseMs, () => session.isSteady()),
    async startWorker(worker, now) {
      await writer.startWorker(worker, now)
      await session.hold(worker)
    },
    async beatWorker(worker, now) {
      await writer.beatWorker(worker, now)
      await session.hold(worker)
    },
    async endWorker(worker, harm) {
      const recovery = await writer.endWorker(worker, harm)
      await session.drop(worker)
      return recovery
    },
    async stopWorker(worker) {
      await writer.stopWorker(worker)
      await session.drop(worker)
    },
  }
}

/** Host and database, without user and password. */
function describePlace({ hosts, schema }: PostgresStoreOptions): string {
  const names = hosts.map(({ host = 'localhost', port = 5432 }) => `${host}:${port}`)
  // A host that names none has the one of its user, or of PGDATABASE.
  const { database } = new pg.Client(hosts[0])
  return `${database} on ${[...new Set(names)].join(', ')} (schema ${schema})`
}
