import { parentPort, workerData } from 'node:worker_threads'
import { openSqliteStore, type SqliteStoreOptions } from '../open-sqlite-store.ts'
import { type Answer, type Call, encodeAnswer, type PackedCall, unpackCall } from './messages.ts'

/** The thread with the writing connection. It answers all calls of one commit in one message. */
const { vaultKey, ...options } = workerData as SqliteStoreOptions
const store = openSqliteStore({ ...options, vaultKey: Buffer.from(vaultKey) })
let outbox: Answer[] = []

parentPort?.on('message', (calls: PackedCall[]) => {
  for (const call of calls) void perform(unpackCall(call))
})

async function perform(call: Call): Promise<void> {
  const { method, args } = call
  const write = store[method] as (...args: unknown[]) => Promise<unknown>
  const answer = await encodeAnswer(call, write(...args))
  // A message costs more than its content. One turn later, all calls of this commit have answers.
  if (outbox.push(answer) === 1) setImmediate(send)
  // After that turn, in which earlier calls may still get their answers.
  if (method === 'close') setImmediate(() => parentPort?.close())
}

function send(): void {
  const answers = outbox
  outbox = []
  if (answers.length > 0) parentPort?.postMessage(answers)
}
