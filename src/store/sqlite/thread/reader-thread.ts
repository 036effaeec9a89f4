import { parentPort, workerData } from 'node:worker_threads'
import type { ReadStore } from '../../../core/store/store.ts'
import { createVault } from '../../vault.ts'
import { openDatabase } from '../database/open-database.ts'
import type { SqliteStoreOptions } from '../open-sqlite-store.ts'
import { createReader, translateReads } from '../reader.ts'
import { openTables } from '../tables.ts'
import { encodeAnswer } from './messages.ts'
import type { ReaderCall } from './reader-link.ts'

/** The thread that answers questions of people on a connection of its own. */
const { file, vaultKey } = workerData as SqliteStoreOptions
const db = openDatabase(file)
db.pragma('query_only = ON')
const reads: ReadStore = translateReads(createReader(openTables(db, createVault(Buffer.from(vaultKey)))), file)

parentPort?.on('message', async (call: ReaderCall | 'close') => {
  if (call === 'close') {
    db.close()
    return parentPort?.close()
  }
  const { method, args } = call
  const read = reads[method] as (...given: unknown[]) => Promise<unknown>
  parentPort?.postMessage(await encodeAnswer(call, read(...args)))
})
