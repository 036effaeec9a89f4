import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { openSqliteStore, type SqliteStoreOptions } from '../open-sqlite-store.ts'
import { type Answer, type Call, encodeAnswer, type PackedCall, unpackCall, type WriterRequest } from './messages.ts'

/** The thread with the writing connection. Its owner and the threads beside it each have a port. */
const { vaultKey, ...options } = workerData as SqliteStoreOptions
const store = openSqliteStore({ ...options, vaultKey: Buffer.from(vaultKey) })
const ports = new Map<number, MessagePort>()

/** Answers the calls of one port: all calls of one commit in one message. */
function answer(port: MessagePort): (calls: readonly PackedCall[]) => void {
  let outbox: Answer[] = []
  const send = () => {
    const answers = outbox
    outbox = []
    if (answers.length > 0) port.postMessage(answers)
  }
  const perform = async (call: Call) => {
    const { method, args } = call
    const write = store[method] as (...args: unknown[]) => Promise<unknown>
    const answered = await encodeAnswer(call, write(...args))
    // A message costs more than its content. One turn later, all calls of this commit have answers.
    if (outbox.push(answered) === 1) setImmediate(send)
    // After that turn, in which earlier calls may still get their answers.
    if (method === 'close') setImmediate(() => closeAll(port))
  }
  return (calls) => {
    for (const call of calls) void perform(unpackCall(call))
  }
}

/** Nothing keeps the thread alive afterwards. */
function closeAll(owner: MessagePort): void {
  for (const port of [owner, ...ports.values()]) port.close()
}

function connect(connection: number, port: MessagePort): void {
  ports.set(connection, port)
  port.on('message', answer(port))
  port.on('close', () => ports.delete(connection))
}

/** Drops what the port has not delivered yet. */
function cut(connection: number): void {
  const port = ports.get(connection)
  port?.removeAllListeners('message')
  port?.close()
}

function serveOwner(port: MessagePort): void {
  const perform = answer(port)
  port.on('message', (message: PackedCall[] | WriterRequest) => {
    if (Array.isArray(message)) perform(message)
    else if (message.kind === 'connect') connect(message.connection, message.port)
    else cut(message.connection)
  })
}

if (parentPort) serveOwner(parentPort)
