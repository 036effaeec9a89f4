import { Worker } from 'node:worker_threads'
import type { Descriptors } from './page-io.ts'
import type { PartHash } from './part-hash.ts'
import { untilAborted } from './until-aborted.ts'

export type HashOrder =
  | { kind: 'begin' }
  /** Bytes in memory that both threads see. */
  | { kind: 'bytes'; bytes: Uint8Array }
  /** The file's next bytes, up to a position. */
  | { kind: 'file'; file: Descriptors; upTo: number }
  | { kind: 'digest' }
  | { kind: 'end' }

export interface HashCall {
  call: number
  hash: number
  order: HashOrder
}

export interface HashAnswer {
  call: number
  /** Taken in by the hash so far. */
  bytes: number
  /** What it came to; empty unless that was asked for. */
  digest: string
  error?: string
}

/**
 * So much of a file is read before more is appended, which takes a good disk a second: read beside
 * the download, it would hold up the disk, and what is written meanwhile would have to be read,
 * too.
 */
const READ_FIRST_BYTES = 1024 * 1024 * 1024

/**
 * The thread in which the files of this process are hashed, in turns. It begins with the first, and
 * keeps no process alive.
 */
class HashThread {
  #worker: Worker | null = null
  readonly #calls = new Map<number, { resolve: (answer: HashAnswer) => void; reject: (error: Error) => void }>()
  #count = 0

  /** A name for a new hash. */
  begin(): number {
    const hash = ++this.#count
    this.ask(hash, { kind: 'begin' }).catch(() => {})
    return hash
  }

  /**
   * Carries out an order after those before of the same hash. Rejects when one of them failed, or
   * the thread has ended since.
   */
  ask(hash: number, order: HashOrder): Promise<HashAnswer> {
    this.#worker ??= this.#start()
    const worker = this.#worker
    const call = ++this.#count
    return new Promise((resolve, reject) => {
      this.#calls.set(call, { resolve, reject })
      worker.ref()
      worker.postMessage({ call, hash, order } satisfies HashCall)
    })
  }

  #start(): Worker {
    // The same ending as this file: source here, JavaScript in the package.
    const worker = new Worker(new URL(import.meta.url.replace(/threaded-hash(\.\w+)$/, 'hash-worker$1')))
    worker.on('message', (answer: HashAnswer) => this.#hear(worker, answer))
    worker.on('error', (error) => this.#lose(worker, error))
    worker.on('exit', () => this.#lose(worker, new Error('the thread that hashes has ended')))
    return worker
  }

  #hear(worker: Worker, answer: HashAnswer): void {
    const waiting = this.#calls.get(answer.call)
    this.#calls.delete(answer.call)
    if (this.#calls.size === 0) worker.unref()
    if (answer.error === undefined) waiting?.resolve(answer)
    else waiting?.reject(new Error(answer.error))
  }

  #lose(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return
    this.#worker = null
    for (const { reject } of this.#calls.values()) reject(error instanceof Error ? error : new Error(String(error)))
    this.#calls.clear()
  }
}

const thread = new HashThread()

/**
 * A hash that is made beside the download. What the file has already is read by the thread, and so
 * is what is appended meanwhile; once the thread has caught up, it takes what follows from memory.
 */
export class ThreadedHash implements PartHash {
  readonly #hash = thread.begin()
  /** Bytes that the file has, with those that are being written. */
  #bytes: number
  /** Bytes that the thread has read. */
  #read = 0
  #follows: Descriptors | null
  #hasEnded = false

  private constructor(file: Descriptors | null, bytes: number) {
    this.#follows = file
    this.#bytes = bytes
  }

  static empty(): ThreadedHash {
    return new ThreadedHash(null, 0)
  }

  /**
   * Of a file that has `bytes` bytes. Resolves when those of a short one are known, else at once;
   * rejects when `signal` aborts.
   */
  static async ofFile(
    file: Descriptors,
    bytes: number,
    { signal, readFirstBytes = READ_FIRST_BYTES }: { signal: AbortSignal; readFirstBytes?: number },
  ): Promise<ThreadedHash> {
    const hash = new ThreadedHash(file, bytes)
    // What fails here is told again with the hash.
    const isRead = hash.#readUpTo(bytes).catch(() => {})
    try {
      if (bytes <= readFirstBytes) await untilAborted(isRead, signal)
      return hash
    } catch (reason) {
      await hash.end()
      throw reason
    }
  }

  async update(bytes: Uint8Array): Promise<void> {
    if (this.#read === this.#bytes) this.#follows = null
    this.#bytes += bytes.byteLength
    if (this.#follows === null) await thread.ask(this.#hash, { kind: 'bytes', bytes })
  }

  reach(bytes: number): void {
    // What fails here is told again with the hash.
    this.#readUpTo(bytes).catch(() => {})
  }

  async digest(bytes: number): Promise<string> {
    await this.#readUpTo(bytes)
    this.#hasEnded = true
    return (await thread.ask(this.#hash, { kind: 'digest' })).digest
  }

  async settle(bytes: number): Promise<boolean> {
    if (this.#follows !== null && this.#read !== bytes) await this.end()
    this.#follows = null
    return !this.#hasEnded
  }

  async end(): Promise<void> {
    this.#hasEnded = true
    await thread.ask(this.#hash, { kind: 'end' }).catch(() => {})
  }

  async #readUpTo(bytes: number): Promise<void> {
    if (this.#follows === null) return
    const answer = await thread.ask(this.#hash, { kind: 'file', file: this.#follows, upTo: bytes })
    this.#read = answer.bytes
  }
}
