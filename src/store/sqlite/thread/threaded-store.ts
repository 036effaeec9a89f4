import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { describeError, UpshotError } from '../../../core/errors.ts'
import type { Store, StoreWrites } from '../../../core/store/store.ts'
import { createVault } from '../../vault.ts'
import { openMigrated } from '../database/open-database.ts'
import { unmarkOpen } from '../database/open-mark.ts'
import type { SqliteStoreOptions } from '../open-sqlite-store.ts'
import { createReader } from '../reader.ts'
import { openTables, type Tables } from '../tables.ts'
import { translateReads } from '../translate-reads.ts'
import { createWriter } from '../writer.ts'
import { type Answer, type Call, decodeAnswer, type PackedCall, packCall, unpackCall } from './messages.ts'

/**
 * The store of the app: reads on this thread, writes in another, so that no fsync blocks the event
 * loop. See decision 14.
 */
export function openThreadedStore(options: SqliteStoreOptions): Store {
  const db = openMigrated(options.file)
  db.pragma('query_only = ON')
  const thread = new WriterThread(options)
  const tables = openTables(db, createVault(options.vaultKey))
  let closed: Promise<void> | null = null
  return {
    ...translateReads(createReader(tables), options.file),
    ...sendWrites(thread, tables),
    close() {
      closed ??= thread.close().finally(() => {
        db.close()
        unmarkOpen(options.file)
      })
      return closed
    },
  }
}

/** Sends each write to the thread under its name. The names come from a writer that never runs. */
function sendWrites(thread: WriterThread, tables: Tables): StoreWrites {
  const names = Object.keys(createWriter(tables, { write: () => Promise.reject(new Error('read-only')) }))
  const writes = names.map((name) => [name, (...args: unknown[]) => thread.call(name as keyof StoreWrites, args)])
  return Object.fromEntries(writes)
}

/**
 * Calls per message. A full message is sent at once, so that the thread commits while a busy turn
 * still makes calls.
 */
const MAX_PER_MESSAGE = 12

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
      if (this.#outbox.length === MAX_PER_MESSAGE) this.#send()
      else if (this.#outbox.length === 1) setImmediate(() => this.#send())
    })
  }

  /** Resolves once all earlier calls are committed; later calls are refused. */
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

  /** After a message failed: only the call that cannot be cloned is rejected. */
  #sendAlone(packed: PackedCall): void {
    try {
      this.#worker.postMessage([packed])
    } catch (cause) {
      const { number, method } = unpackCall(packed)
      const message = `${method} was given a value that cannot be sent to a thread: ${describeError(cause).message}`
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
