import { CommitCounts } from '../../core/commit-counts.ts'
import type { Store } from '../../core/store/store.ts'
import { createVault } from '../vault.ts'
import { GroupCommit } from './database/group-commit.ts'
import { openMigrated } from './database/open-database.ts'
import { markOpen, unmarkOpen } from './database/open-mark.ts'
import { createReader } from './reader.ts'
import { openTables } from './tables.ts'
import { translateReads } from './translate-reads.ts'
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
  const watchers = [tables.events.known, tables.deliveries.uses, tables.deliveries.unmatched, tables.gates]
  const commit = new GroupCommit(db, watchers, commits === undefined ? null : new CommitCounts(commits))
  return {
    ...translateReads(createReader(tables), file),
    ...createWriter(tables, commit),
    async close() {
      if (!db.open) return
      commit.close()
      tables.workers.releaseLocks()
      db.close()
      if (!db.memory) unmarkOpen(file)
    },
  }
}
