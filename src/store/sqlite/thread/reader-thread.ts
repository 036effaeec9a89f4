import { parentPort, workerData } from 'node:worker_threads'
import { createVault } from '../../vault.ts'
import { openDatabase } from '../database/open-database.ts'
import type { SqliteStoreOptions } from '../open-sqlite-store.ts'
import { createReader, translateReads } from '../reader.ts'
import { openTables } from '../tables.ts'
import { serveCalls } from './serve-calls.ts'

/** The thread that answers questions of people on a connection of its own. */
const { file, vaultKey } = workerData as SqliteStoreOptions
const db = openDatabase(file)
db.pragma('query_only = ON')
const reads = translateReads(createReader(openTables(db, createVault(Buffer.from(vaultKey)))), file)
/** A turn later: reads of the same message have ended then. */
const close = () => new Promise(setImmediate).then(() => void db.close())

// An answer waits for no longer question behind it.
const serving = { send: (flush: () => void) => flush(), closed: () => parentPort?.close() }
if (parentPort) parentPort.on('message', serveCalls({ ...reads, close }, parentPort, serving))
