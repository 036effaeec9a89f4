import { parentPort, workerData } from 'node:worker_threads'
import { openSqliteStore, type SqliteStoreOptions } from '../open-sqlite-store.ts'
import { type Answer, type Call, encodeAnswer, type PackedCall, unpackCall } from './messages.ts'

/**
 * The thread that owns the writing connection: it takes calls by the bundle and answers all of one
 * commit together.
 */
const { file, vaultKey } = workerData as SqliteStoreOptions
const store = openSqliteStore({ file, vaultKey: Buffer.from(vaultKey) })
let outbox: Answer[] = []

parentPort?.on('message', (calls: PackedCall[]) => {
  for (const call of calls) void perform(unpackCall(call))
})

async function perform(call: Call): Promise<void> {
  const { method, args } = call
  const write = store[method] as (...args: unknown[]) => Promise<unknown>
  const answer = await encodeAnswer(call, write(...args))
  // A message costs more than what is in it: a turn later every call of this commit has its answer.
  if (outbox.push(answer) === 1) setImmediate(send)
  // Behind that turn, in which calls from before the end may still get their answers.
  if (method === 'close') setImmediate(() => parentPort?.close())
}

function send(): void {
  const answers = outbox
  outbox = []
  if (answers.length > 0) parentPort?.postMessage(answers)
}
