import { Worker } from 'node:worker_threads'
import type { Descriptors } from './page-io.ts'
import { type PartHash, PassingHash } from './part-hash.ts'
import { untilAborted } from './target-queue.ts'
import type { UncachedFile } from './uncached-file.ts'

/** An order to the hashing thread, about one hash. */
export type HashOrder =
  | { kind: 'begin' }
  /** Hash these bytes, which lie in memory that both threads share. */
  | { kind: 'bytes'; bytes: Uint8Array }
  /** Read and hash the file up to this position. */
  | { kind: 'file'; file: Descriptors; upTo: number }
  | { kind: 'digest' }
  | { kind: 'end' }

/** An order with the numbers of its call and its hash. */
export interface HashCall {
  call: number
  hash: number
  order: HashOrder
}

/** The answer to a call. */
export interface HashAnswer {
  call: number
  /** Bytes hashed so far. */
  bytes: number
  /** The digest in hex; empty for every other order. */
  digest: string
  /** The message of the failure. */
  error?: string
}

/**
 * A part up to this size is read before more is appended: that takes a good disk a second. A larger
 * one is read beside the download.
 */
const MAX_READ_FIRST_BYTES = 1024 * 1024 * 1024

/**
 * The one thread that hashes files for this process. It starts with the first hash and never keeps
 * the process alive.
 */
class HashThread {
  #worker: Worker | null = null
  readonly #calls = new Map<number, { resolve: (answer: HashAnswer) => void; reject: (error: Error) => void }>()
  #count = 0

  /** Begins a hash; returns its number. */
  begin(): number {
    const hash = ++this.#count
    this.ask(hash, { kind: 'begin' }).catch(() => {})
    return hash
  }

  /**
   * Runs an order after the earlier orders to this hash. Rejects when one of them failed, or the
   * thread has ended.
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
    // The extension is that of this file: TypeScript here, JavaScript in the package.
    const worker = new Worker(new URL(import.meta.url.replace(/threaded-hash(\.\w+)$/, 'hash-worker$1')))
    worker.on('message', (answer: HashAnswer) => this.#receive(worker, answer))
    worker.on('error', (error) => this.#fail(worker, error))
    worker.on('exit', () => this.#fail(worker, new Error('the thread that hashes has ended')))
    return worker
  }

  #receive(worker: Worker, answer: HashAnswer): void {
    const waiting = this.#calls.get(answer.call)
    this.#calls.delete(answer.call)
    if (this.#calls.size === 0) worker.unref()
    if (answer.error === undefined) waiting?.resolve(answer)
    else waiting?.reject(new Error(answer.error))
  }

  #fail(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return
    this.#worker = null
    for (const { reject } of this.#calls.values()) reject(error instanceof Error ? error : new Error(String(error)))
    this.#calls.clear()
  }
}

const thread = new HashThread()

/**
 * A hash in another thread. It reads the file until it has caught up with the download, and then
 * takes the bytes from memory. See decision 26.
 */
export class ThreadedHash implements PartHash {
  readonly #hash = thread.begin()
  /** Bytes in the file, including running writes. */
  #bytes: number
  /** Bytes that the thread has read from the file. */
  #read = 0
  /** The file to read; null once the bytes come from memory. */
  #file: Descriptors | null
  #hasEnded = false

  private constructor(file: Descriptors | null, bytes: number) {
    this.#file = file
    this.#bytes = bytes
  }

  /** The hash of an empty file. */
  static empty(): ThreadedHash {
    return new ThreadedHash(null, 0)
  }

  /**
   * The hash of a file with `bytes` bytes. Resolves once a small file is read, at once for a large
   * one; rejects when `signal` aborts.
   */
  static async ofFile(
    file: Descriptors,
    bytes: number,
    { signal, readFirstBytes = MAX_READ_FIRST_BYTES }: { signal: AbortSignal; readFirstBytes?: number },
  ): Promise<ThreadedHash> {
    const hash = new ThreadedHash(file, bytes)
    // A failure also rejects the digest.
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
    if (this.#read === this.#bytes) this.#file = null
    this.#bytes += bytes.byteLength
    if (this.#file === null) await thread.ask(this.#hash, { kind: 'bytes', bytes })
  }

  reach(bytes: number): void {
    // A failure also rejects the digest.
    this.#readUpTo(bytes).catch(() => {})
  }

  async digest(bytes: number): Promise<string> {
    await this.#readUpTo(bytes)
    this.#hasEnded = true
    return (await thread.ask(this.#hash, { kind: 'digest' })).digest
  }

  async settle(bytes: number): Promise<boolean> {
    if (this.#file !== null && this.#read !== bytes) await this.end()
    this.#file = null
    return !this.#hasEnded
  }

  async end(): Promise<void> {
    this.#hasEnded = true
    await thread.ask(this.#hash, { kind: 'end' }).catch(() => {})
  }

  async #readUpTo(bytes: number): Promise<void> {
    if (this.#file === null) return
    const answer = await thread.ask(this.#hash, { kind: 'file', file: this.#file, upTo: bytes })
    this.#read = answer.bytes
  }
}

/** A larger file is hashed in a thread: in this one its hash would block everything else. */
const WORTH_THE_THREAD_BYTES = 8 * 1024 * 1024

/** Small enough to stay in the processor's cache between read and hash. */
const READ_AT_ONCE_BYTES = 256 * 1024

/** The hash of an empty file that will have about `size` bytes; null for an unknown size. */
export function emptyHash(size: number | null): PartHash {
  return size === null || size > WORTH_THE_THREAD_BYTES ? ThreadedHash.empty() : new PassingHash()
}

/**
 * The hash of a file with `bytes` bytes that will have about `size`. A very large file is read
 * while more is appended; rejects when `signal` aborts.
 */
export async function continuedHash(
  file: UncachedFile,
  { bytes, size, signal }: { bytes: number; size: number | null; signal: AbortSignal },
): Promise<PartHash> {
  if (Math.max(bytes, size ?? 0) > WORTH_THE_THREAD_BYTES) {
    return ThreadedHash.ofFile(file.descriptors, bytes, { signal })
  }
  const hash = new PassingHash()
  const buffer = Buffer.allocUnsafe(Math.min(bytes, READ_AT_ONCE_BYTES))
  for (let at = 0; at < bytes; ) {
    const { bytesRead } = await file.plain.read(buffer, 0, buffer.byteLength, at)
    if (bytesRead === 0) break
    await hash.update(buffer.subarray(0, bytesRead))
    at += bytesRead
  }
  return hash
}
