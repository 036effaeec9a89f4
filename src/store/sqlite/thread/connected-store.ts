import type { MessagePort } from 'node:worker_threads'
import type { Store } from '../../../core/store/store.ts'
import { createVault } from '../../vault.ts'
import { openDatabase } from '../database/open-database.ts'
import type { SqliteStoreOptions } from '../open-sqlite-store.ts'
import { createReader, translateReads } from '../reader.ts'
import { openTables } from '../tables.ts'
import { openWrites } from './open-writes.ts'

/**
 * The store for a thread beside its owner's: it reads on its own connection. The owner's writer
 * thread writes for both, and outlives this store.
 */
export function openConnectedStore({ file, vaultKey }: SqliteStoreOptions, port: MessagePort): Store {
  const db = openDatabase(file)
  db.pragma('query_only = ON')
  // A vault key that crossed to this thread is no Buffer any more.
  const tables = openTables(db, createVault(Buffer.from(vaultKey)))
  const { link, writes } = openWrites(port, tables)
  port.on('close', () => link.fail('the writer thread has ended'))
  let closed: Promise<void> | null = null
  return {
    ...translateReads(createReader(tables), file),
    ...writes,
    close() {
      closed ??= link.end().finally(() => {
        port.close()
        db.close()
      })
      return closed
    },
  }
}
