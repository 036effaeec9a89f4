import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { describeError, UpshotError } from '../../../core/errors.ts'
import type { Store } from '../../../core/store/store.ts'
import { createVault } from '../../vault.ts'
import { migrate } from '../database/migrate.ts'
import { openDatabase } from '../database/open-database.ts'
import type { SqliteStoreOptions } from '../open-store.ts'
import { createReader } from '../reader.ts'
import { openTables } from '../tables.ts'
import type { StoreWriter } from '../writer.ts'
import { type Answer, type Call, decodeAnswer, type PackedCall, packCall, unpackCall } from './messages.ts'

/** Every write of the port; the compiler notices one that is missing. */
const WRITES = Object.keys({
  saveDelivery: 0,
  saveRefusal: 0,
  countRefusals: 0,
  saveCapture: 0,
  dropCaptures: 0,
  probe: 0,
  addEndpoint: 0,
  updateEndpoint: 0,
  removeEndpoint: 0,
  saveAccount: 0,
  removeAccount: 0,
  startSchedule: 0,
  recordTick: 0,
  pauseSchedule: 0,
  saveWorkflows: 0,
  pauseWorkflow: 0,
  holdRuns: 0,
  resumeWorkflow: 0,
  releaseHeldRuns: 0,
  startWorker: 0,
  beatWorker: 0,
  recoverRuns: 0,
  stopWorker: 0,
  claimRuns: 0,
  claimUnseenRuns: 0,
  admitRun: 0,
  saveCheckpoint: 0,
  watchRun: 0,
  completeRun: 0,
  failRun: 0,
  skipRun: 0,
  parkRun: 0,
  retryRun: 0,
  releaseRun: 0,
  cancelRun: 0,
  reopenRun: 0,
  resumeRun: 0,
  forkRun: 0,
  replayEvent: 0,
  prune: 0,
  openWatch: 0,
  saveMatches: 0,
  saveLimit: 0,
} satisfies Record<keyof StoreWriter, 0>) as (keyof StoreWriter)[]

/**
 * The store of the app: it writes in a thread of its own, so that no fsync holds up the event loop, and reads on a
 * connection of this one. What is asked for in one turn goes over in one message.
 */
export function openThreadedStore(options: SqliteStoreOptions): Store {
  const db = openDatabase(options.file)
  migrate(db)
  db.pragma('query_only = ON')
  const thread = new WriterThread(options)
  const writes = WRITES.map((method) => [method, (...args: unknown[]) => thread.call(method, args)])
  let closed: Promise<void> | null = null
  return {
    ...createReader(openTables(db, createVault(options.vaultKey))),
    ...(Object.fromEntries(writes) as StoreWriter),
    close() {
      closed ??= thread.close().finally(() => db.close())
      return closed
    },
  }
}

/**
 * A fuller message goes at once, so that the thread commits the first calls of a busy turn while this one is still at the
 * others: the two work side by side instead of in turn.
 */
const MOST_PER_MESSAGE = 12

class WriterThread {
  readonly #worker: Worker
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  #outbox: PackedCall[] = []
  #calls = 0
  #failure: Error | null = null

  constructor(workerData: SqliteStoreOptions) {
    // The same ending as this file: source here, JavaScript in the package.
    const entry = new URL(import.meta.url.replace(/threaded-store(\.\w+)$/, 'writer-thread$1'))
    this.#worker = new Worker(entry, { workerData })
    this.#worker.on('message', (answers: Answer[]) => {
      for (const answer of answers) this.#settle(answer)
    })
    this.#worker.on('error', (error) => this.#fail(error))
    this.#worker.on('exit', () => this.#fail(new Error('the writer thread has ended')))
  }

  call(method: Call['method'], args: unknown[]): Promise<unknown> {
    if (this.#failure) return Promise.reject(describeLoss(this.#failure))
    return new Promise((resolve, reject) => {
      const number = ++this.#calls
      this.#waiting.set(number, { resolve, reject })
      this.#outbox.push(packCall(number, method, args))
      if (this.#outbox.length === MOST_PER_MESSAGE) this.#send()
      else if (this.#outbox.length === 1) setImmediate(() => this.#send())
    })
  }

  /** Commits what was asked for before; refuses what comes after. */
  async close(): Promise<void> {
    if (this.#failure) return
    const ended = once(this.#worker, 'exit')
    const answered = this.call('close', [])
    this.#failure = new Error('it is closed')
    await answered
    await ended
  }

  #send(): void {
    const calls = this.#outbox
    if (calls.length === 0) return
    this.#outbox = []
    try {
      this.#worker.postMessage(calls)
    } catch {
      for (const call of calls) this.#sendAlone(call)
    }
  }

  /** One call cannot be sent, because of what is in it: the others must not fail with it. */
  #sendAlone(packed: PackedCall): void {
    try {
      this.#worker.postMessage([packed])
    } catch (cause) {
      const { number, method } = unpackCall(packed)
      const message = `${method} was given what no thread can be sent: ${describeError(cause).message}`
      this.#settle({ number, error: { code: 'internal', message } })
    }
  }

  #settle(answer: Answer): void {
    const { number, value, error } = decodeAnswer(answer)
    const waiting = this.#waiting.get(number)
    this.#waiting.delete(number)
    if (error) waiting?.reject(error)
    else waiting?.resolve(value)
  }

  #fail(error: Error): void {
    this.#failure ??= error
    for (const { reject } of this.#waiting.values()) reject(describeLoss(error))
    this.#waiting.clear()
  }
}

function describeLoss(cause: Error): UpshotError {
  return new UpshotError('store_unavailable', `The store cannot be written: ${cause.message}.`, { cause })
}
