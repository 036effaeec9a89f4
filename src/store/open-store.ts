import type { MessagePort } from 'node:worker_threads'
import type { Store } from '../core/store/store.ts'
import type { PostgresStoreOptions } from './postgres/open-postgres-store.ts'
import type { Reader, SharedStore } from './shared-store.ts'
import type { SqliteStoreOptions } from './sqlite/open-sqlite-store.ts'

/** A file, or a PostgreSQL database. They cross to other threads and processes. */
export type StoreOptions = SqliteStoreOptions | PostgresStoreOptions

// Each function loads the modules of one database only.

/** The store on this thread, for commands and tests; an app may be running. */
export async function openStore(options: StoreOptions): Promise<Store> {
  if ('file' in options) return (await import('./sqlite/open-sqlite-store.ts')).openSqliteStore(options)
  return (await import('./postgres/open-postgres-store.ts')).openPostgresStore(options)
}

/** The reads of a database that is there, without any way to write; an app may be running. */
export async function openReadStore(options: StoreOptions): Promise<Reader> {
  if ('file' in options) return (await import('./sqlite/open-sqlite-store.ts')).openSqliteReader(options)
  return (await import('./postgres/open-postgres-store.ts')).openPostgresReader(options)
}

export async function openSharedStore(options: StoreOptions): Promise<SharedStore> {
  if ('file' in options) return (await import('./sqlite/thread/threaded-store.ts')).openThreadedStore(options)
  return (await import('./postgres/open-postgres-store.ts')).openSharedPostgresStore(options)
}

/** The store for a thread beside its owner's; `port` comes from `connect` of that. */
export async function openConnectedStore(options: StoreOptions, port: MessagePort): Promise<Store> {
  if ('file' in options) return (await import('./sqlite/thread/connected-store.ts')).openConnectedStore(options, port)
  return (await import('./postgres/open-postgres-store.ts')).openConnectedPostgresStore(options, port)
}
