import type { Database } from 'better-sqlite3'
import type { Store } from '../../src/core/store/store.ts'
import type { ReceiverStore } from '../../src/receive/receiver.ts'
import { migrate } from '../../src/store/sqlite/database/migrate.ts'
import { openDatabase } from '../../src/store/sqlite/database/open-database.ts'
import type { SqliteStoreOptions } from '../../src/store/sqlite/open-sqlite-store.ts'
import { createReader } from '../../src/store/sqlite/reader.ts'
import { openTables } from '../../src/store/sqlite/tables.ts'
import { createWriter } from '../../src/store/sqlite/writer.ts'
import { createVault } from '../../src/store/vault.ts'

export type IngestStore = ReceiverStore & Pick<Store, 'saveDelivery' | 'addEndpoint'>

/** The receiver's part of the store on the same tables and settings, one commit per write. */
export function openOneCommitStore({ file, vaultKey }: SqliteStoreOptions): IngestStore {
  const db = openDatabase(file)
  migrate(db)
  const tables = openTables(db, createVault(vaultKey))
  return { ...createReader(tables), ...createWriter(tables, { write: performAlone(db) }) }
}

/** Performs one write after the other, each in a commit of its own. */
function performAlone(db: Database): <T>(write: () => Promise<T>) => Promise<T> {
  const [begin, commit, rollback] = ['BEGIN IMMEDIATE', 'COMMIT', 'ROLLBACK'].map((sql) => db.prepare(sql))
  let last: Promise<unknown> = Promise.resolve()
  return (write) => {
    const written = last.then(async () => {
      begin?.run()
      try {
        const value = await write()
        commit?.run()
        return value
      } catch (error) {
        rollback?.run()
        throw error
      }
    })
    last = written.catch(() => {})
    return written
  }
}
