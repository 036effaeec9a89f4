import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { openSqliteStore, type SqliteStoreOptions } from '../open-sqlite-store.ts'
import type { Call } from './messages.ts'
import { serveCalls } from './serve-calls.ts'

/** A message of the store's owner that is no call: another thread begins or ends to write. */
export type WriterRequest =
  | { kind: 'connect'; connection: number; port: MessagePort }
  | { kind: 'cut'; connection: number }

/** The thread with the writing connection. Its owner and the threads beside it each have a port. */
const { vaultKey, ...options } = workerData as SqliteStoreOptions
const store = openSqliteStore({ ...options, vaultKey: Buffer.from(vaultKey) })
const ports = new Map<number, MessagePort>()

function serve(port: MessagePort) {
  // A message costs more than its content. One turn later, all calls of this commit have answers.
  return serveCalls(store, port, { send: setImmediate, closed: () => closeAll(port) })
}

/** Nothing keeps the thread alive afterwards. */
function closeAll(owner: MessagePort): void {
  for (const port of [owner, ...ports.values()]) port.close()
}

function connect(connection: number, port: MessagePort): void {
  ports.set(connection, port)
  port.on('message', serve(port))
  port.on('close', () => ports.delete(connection))
}

/** Drops what the port has not delivered yet. */
function cut(connection: number): void {
  const port = ports.get(connection)
  port?.removeAllListeners('message')
  port?.close()
}

function serveOwner(port: MessagePort): void {
  const perform = serve(port)
  port.on('message', (message: Call[] | WriterRequest) => {
    if (Array.isArray(message)) perform(message)
    else if (message.kind === 'connect') connect(message.connection, message.port)
    else cut(message.connection)
  })
}

if (parentPort) serveOwner(parentPort)
