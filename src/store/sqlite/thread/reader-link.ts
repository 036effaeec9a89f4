import { Worker } from 'node:worker_threads'
import { UpshotError } from '../../../core/errors.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import type { SqliteStoreOptions } from '../open-sqlite-store.ts'
import { CallLink } from './call-link.ts'

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
  'listEndedBulks',
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
  'tallyForPerson',
  'walkEvents',
] as const satisfies (keyof ReadStore)[]

type ThreadedRead = (typeof THREADED)[number]

export type ThreadedReads = Pick<ReadStore, ThreadedRead>

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
  #running: { thread: Worker; link: CallLink } | null = null
  #idle: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: SqliteStoreOptions, { maxWaiting = MAX_WAITING, idleMs = IDLE_MS }: LinkOptions = {}) {
    this.#options = options
    this.#maxWaiting = maxWaiting
    this.#idleMs = idleMs
  }

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
    if (this.#running && this.#running.link.size >= this.#maxWaiting) {
      const message = `${this.#maxWaiting} questions wait for the database already.`
      return Promise.reject(
        new UpshotError('too_many_requests', message, { details: { fix: 'Ask again in a moment.' } }),
      )
    }
    clearTimeout(this.#idle)
    this.#running ??= this.#start()
    return this.#running.link.call(method, args)
  }

  #start(): { thread: Worker; link: CallLink } {
    // The same ending as this file: source here, JavaScript in the package.
    const entry = new URL(import.meta.url.replace(/reader-link(\.\w+)$/, 'reader-thread$1'))
    const { commits: _, ...workerData } = this.#options
    const thread = new Worker(entry, { workerData })
    // The next read starts another thread.
    const forget = () => {
      if (this.#running?.thread === thread) this.#running = null
    }
    const stalled = () => {
      forget()
      void thread.terminate()
    }
    const link = new CallLink(thread, { describeLoss, stalled, emptied: () => this.#rest() })
    const lose = (why: string) => {
      forget()
      link.fail(why)
    }
    thread.on('error', (error) => lose(error.message))
    thread.on('exit', () => lose('the reader thread has ended'))
    return { thread, link }
  }

  #rest(): void {
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => void this.#end(), this.#idleMs).unref()
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idle)
    if (this.#running === null) return
    const { thread, link } = this.#running
    this.#running = null
    const ended = new Promise((resolve) => thread.once('exit', resolve))
    // Calls arrive in order, so the reads that wait are answered first.
    void link.closeStore().catch(() => {})
    await ended
  }
}

function describeLoss(why: string): UpshotError {
  return new UpshotError('store_unavailable', `The store cannot be read: ${why}.`)
}
