import { Worker } from 'node:worker_threads'
import { UpshotError } from '../../../core/errors.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import type { SqliteStoreOptions } from '../open-sqlite-store.ts'
import type { Answer } from './messages.ts'
import { OpenCalls } from './open-calls.ts'

/**
 * The reads whose cost grows with history, or with what a person asks for. Their answers hold no
 * `Buffer`, which a message between threads turns into another type.
 */
const THREADED = [
  'countDeliveries',
  'countHourRuns',
  'countPrunable',
  'countRuns',
  'findEvents',
  'groupFailures',
  'listActions',
  'listApprovalItems',
  'listApprovals',
  'listBulkRefusals',
  'listBulks',
  'listDeliveries',
  'listDeliveriesOf',
  'listDeliveryHours',
  'listEffects',
  'listEventsOf',
  'listRunHours',
  'listRuns',
  'listStepFailures',
  'listSteps',
  'pageEffects',
  'readHourDeliveries',
  'readHourRuns',
  'readOutput',
  'readSubjects',
  'searchEffects',
  'searchEvents',
  'searchRuns',
  'walkEvents',
] as const satisfies (keyof ReadStore)[]

type ThreadedRead = (typeof THREADED)[number]

/** The reads that a {@link ReaderLink} answers. */
export type ThreadedReads = Pick<ReadStore, ThreadedRead>

/** A read on its way to the reader thread. */
export interface ReaderCall {
  number: number
  method: ThreadedRead
  args: unknown[]
}

/** Reads that wait at the same time; one more is refused, so that memory stays bounded. */
const MAX_WAITING = 500
/** The thread ends after so long without a read, and the next one starts another. */
const IDLE_MS = 300_000

interface LinkOptions {
  /** Default 500. */
  maxWaiting?: number
  /** Milliseconds. Default 5 minutes. */
  idleMs?: number
}

/** Reads in a thread of their own, which starts with the first one. See decision 60. */
export class ReaderLink {
  readonly #options: SqliteStoreOptions
  readonly #maxWaiting: number
  readonly #idleMs: number
  readonly #open = new OpenCalls({ describeLoss, stalled: () => this.#drop() })
  #thread: Worker | null = null
  #idle: NodeJS.Timeout | null = null
  #isClosed = false

  constructor(options: SqliteStoreOptions, { maxWaiting = MAX_WAITING, idleMs = IDLE_MS }: LinkOptions = {}) {
    this.#options = options
    this.#maxWaiting = maxWaiting
    this.#idleMs = idleMs
  }

  /** The threaded reads by their names. */
  readonly reads = Object.fromEntries(
    THREADED.map((method) => [method, (...args: unknown[]) => this.#call(method, args)]),
  ) as unknown as ThreadedReads

  /** Refuses later reads, and ends the thread after those that wait. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#end()
  }

  #call(method: ThreadedRead, args: unknown[]): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(describeLoss('it is closed'))
    if (this.#open.size >= this.#maxWaiting) {
      const message = `${this.#maxWaiting} questions wait for the database already.`
      return Promise.reject(
        new UpshotError('too_many_requests', message, { details: { fix: 'Ask again in a moment.' } }),
      )
    }
    const thread = this.#start()
    return this.#open.add(method, (number) => thread.postMessage({ number, method, args } satisfies ReaderCall))
  }

  #start(): Worker {
    if (this.#idle) clearTimeout(this.#idle)
    this.#idle = null
    if (this.#thread) return this.#thread
    // The same ending as this file: source here, JavaScript in the package.
    const entry = new URL(import.meta.url.replace(/reader-link(\.\w+)$/, 'reader-thread$1'))
    const { commits: _, ...workerData } = this.#options
    const thread = new Worker(entry, { workerData })
    thread.on('message', (answer: Answer) => this.#settle(answer))
    thread.on('error', (error) => this.#lose(thread, error.message))
    thread.on('exit', () => this.#lose(thread, 'the reader thread has ended'))
    this.#thread = thread
    return thread
  }

  #settle(answer: Answer): void {
    this.#open.settle(answer)
    if (this.#open.size > 0) return
    this.#idle = setTimeout(() => void this.#end(), this.#idleMs)
    this.#idle.unref()
  }

  /** Rejects what waits for a thread that is gone; the next read starts another one. */
  #lose(thread: Worker, why: string): void {
    if (thread !== this.#thread) return
    this.#thread = null
    this.#open.fail(why)
  }

  /** Ends a thread that has stalled; the next read starts another one. */
  #drop(): void {
    const thread = this.#thread
    this.#thread = null
    void thread?.terminate()
  }

  async #end(): Promise<void> {
    if (this.#idle) clearTimeout(this.#idle)
    const thread = this.#thread
    if (!thread) return
    const ended = new Promise((resolve) => thread.once('exit', resolve))
    // Messages arrive in order, so the reads that wait are answered first.
    thread.postMessage('close')
    if (this.#open.size === 0) this.#thread = null
    await ended
  }
}

function describeLoss(why: string): UpshotError {
  return new UpshotError('store_unavailable', `The store cannot be read: ${why}.`)
}
