import { once } from 'node:events'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { SharedStore, StoreConnection } from '../../shared-store.ts'
import { createVault } from '../../vault.ts'
import { openMigrated } from '../database/open-database.ts'
import { unmarkOpen } from '../database/open-mark.ts'
import type { SqliteStoreOptions } from '../open-sqlite-store.ts'
import { createReader, translateReads } from '../reader.ts'
import { openTables, type Tables } from '../tables.ts'
import type { CallLink } from './call-link.ts'
import { openWrites } from './open-writes.ts'
import { ReaderLink, type ThreadedReads } from './reader-link.ts'
import type { WriterRequest } from './writer-thread.ts'

/** The store of the app, whose writer thread other threads may use as well. */
interface ThreadedStore extends SharedStore {
  /** Reads for people in a thread of their own. */
  readonly aside: ThreadedReads
}

/**
 * The store of the app: reads on this thread, writes in another, so that no fsync blocks the event
 * loop. See decision 14.
 */
export function openThreadedStore(options: SqliteStoreOptions): ThreadedStore {
  const db = openMigrated(options.file)
  db.pragma('query_only = ON')
  const thread = startWriter(options)
  const tables = openTables(db, createVault(options.vaultKey))
  const { link, writes } = openWrites(thread, tables)
  thread.on('error', (error) => link.fail(error.message))
  thread.on('exit', () => link.fail('the writer thread has ended'))
  const reader = new ReaderLink(options)
  let closed: Promise<void> | null = null
  return {
    ...translateReads(createReader(tables), options.file),
    ...writes,
    connect: () => connectTo(thread),
    aside: { ...reader.reads, readSubjects: (limit) => readSubjects(tables, reader, limit) },
    close() {
      closed ??= closeThreads(thread, link, reader).finally(() => {
        db.close()
        unmarkOpen(options.file)
      })
      return closed
    },
  }
}

/** Bodies of so many bytes are read on this thread, in a millisecond. */
const FEW_BYTES = 65_536

/** An app with little to index, which looks each minute, keeps no reader thread for that. */
async function readSubjects({ eventSearch: { subjects } }: Tables, { reads }: ReaderLink, limit: number) {
  const { events, bytes } = await subjects.measureNext(limit)
  if (events === 0) return null
  return bytes <= FEW_BYTES ? subjects.readNext(limit) : reads.readSubjects(limit)
}

function startWriter(workerData: SqliteStoreOptions): Worker {
  // The same ending as this file: source here, JavaScript in the package.
  const entry = new URL(import.meta.url.replace(/threaded-store(\.\w+)$/, 'writer-thread$1'))
  return new Worker(entry, { workerData })
}

async function closeThreads(thread: Worker, link: CallLink, reader: ReaderLink): Promise<void> {
  await Promise.all([closeWriter(thread, link), reader.close()])
}

async function closeWriter(thread: Worker, link: CallLink): Promise<void> {
  if (thread.threadId === -1) return
  const ended = once(thread, 'exit')
  await link.closeStore()
  await ended
}

let connections = 0

function connectTo(thread: Worker): StoreConnection {
  const { port1, port2 } = new MessageChannel()
  const connection = ++connections
  const request = (asked: WriterRequest, transfer: MessagePort[] = []) => thread.postMessage(asked, transfer)
  request({ kind: 'connect', connection, port: port2 }, [port2])
  return { port: port1, cut: () => request({ kind: 'cut', connection }) }
}
