import { parentPort, workerData } from 'node:worker_threads'
import { openSqliteStore, type SqliteStoreOptions } from './open-store.ts'
import { type Call, encodeAnswer } from './thread-messages.ts'

/** The thread that owns the writing connection: it takes calls by the bundle and answers each bundle after its commit. */
const { file, vaultKey } = workerData as SqliteStoreOptions
const store = openSqliteStore({ file, vaultKey: Buffer.from(vaultKey) })

parentPort?.on('message', async (calls: Call[]) => {
  const answers = await Promise.all(
    calls.map(({ number, method, args }) => {
      const call = store[method] as (...args: unknown[]) => Promise<unknown>
      return encodeAnswer(number, call(...args))
    }),
  )
  parentPort?.postMessage(answers)
  if (calls.some(({ method }) => method === 'close')) parentPort?.close()
})
