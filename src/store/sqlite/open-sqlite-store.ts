import Database from 'better-sqlite3'
import { CommitCounts } from '../../core/commit-counts.ts'
import type { ReadStore, Store } from '../../core/store/store.ts'
import { createVault } from '../vault.ts'
import { GroupCommit, LOCK_WAIT_MS } from './database/group-commit.ts'
import { refuseMoved, requireLatest } from './database/migrate.ts'
import { openMigrated } from './database/open-database.ts'
import { markOpen, unmarkOpen } from './database/open-mark.ts'
import { requireOwnLog } from './database/own-log.ts'
import { translateFault } from './database/storage-fault.ts'
import { createReader, translateReads } from './reader.ts'
import { openTables } from './tables.ts'
import { createWriter } from './writer.ts'

export interface SqliteStoreOptions {
  /** Path of the database, which is created if missing. */
  file: string
  /** 32 bytes that seal the secrets in it. */
  vaultKey: Buffer
  /** Memory of a `CommitCounts`, to which each commit is added. Default: none is counted. */
  commits?: SharedArrayBuffer
}

/** The store on one connection of this thread: for commands, tests and the writer thread. */
export function openSqliteStore({ file, vaultKey, commits }: SqliteStoreOptions): Store {
  const db = openMigrated(file)
  if (!db.memory) markOpen(file)
  const tables = openTables(db, createVault(vaultKey))
  const { deliveries, events, gates } = tables
  const watchers = [events.known, deliveries.uses, gates]
  const commit = new GroupCommit(db, watchers, commits === undefined ? null : new CommitCounts(commits))
  return {
    ...translateReads(createReader(tables), file, commit),
    ...createWriter(tables, commit),
    async close() {
      if (!db.open) return
      await commit.close()
      tables.workers.releaseLocks()
      db.close()
      if (!db.memory) unmarkOpen(file)
    },
  }
}

/**
 * The reads of a database that is there, on a connection that cannot write. Throws
 * `invalid_config` where it has another schema, because nothing is migrated.
 */
export function openSqliteReader({ file, vaultKey }: SqliteStoreOptions): ReadStore & Pick<Store, 'close'> {
  const db = openReadOnly(file)
  return {
    ...translateReads(createReader(openTables(db, createVault(vaultKey))), file),
    async close() {
      db.close()
    },
  }
}

function openReadOnly(file: string): Database.Database {
  requireOwnLog(file)
  try {
    const db = new Database(file, { readonly: true, fileMustExist: true, timeout: LOCK_WAIT_MS })
    try {
      refuseMoved(db)
      requireLatest(db)
      return db
    } catch (error) {
      db.close()
      throw error
    }
  } catch (error) {
    throw translateFault(error, file)
  }
}
