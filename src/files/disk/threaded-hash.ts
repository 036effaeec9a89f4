import { Worker } from 'node:worker_threads'
import { unlessAborted } from '../../core/thenable.ts'
import type { Descriptors } from './page-io.ts'
import { type PartHash, PassingHash } from './part-hash.ts'
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

export interface HashAnswer {
  call: number
  /** The digest in hex; empty for every other order. */
  digest: string
  /** The message of the failure. */
  error?: string
}

/**
 * The one thread that hashes files for this process. It starts with the first hash and never keeps
 * the process alive.
 */
class HashThread {
  #worker: Worker | null = null
  readonly #calls = new Map<number, { resolve: (answer: HashAnswer) => void; reject: (error: Error) => void }>()
  #count = 0

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

/** A hash in another thread. See decision 26. */
class ThreadedHash implements PartHash {
  readonly #hash = thread.begin()

  /** Reads the bytes that a file has. A failure rejects the digest. */
  async read(file: Descriptors, upTo: number): Promise<void> {
    await thread.ask(this.#hash, { kind: 'file', file, upTo }).catch(() => {})
  }

  async update(bytes: Uint8Array): Promise<void> {
    await thread.ask(this.#hash, { kind: 'bytes', bytes })
  }

  async digest(): Promise<string> {
    return (await thread.ask(this.#hash, { kind: 'digest' })).digest
  }

  async end(): Promise<void> {
    await thread.ask(this.#hash, { kind: 'end' }).catch(() => {})
  }
}

/** A larger file is hashed in a thread: in this one its hash would block everything else. */
const WORTH_THE_THREAD_BYTES = 8 * 1024 * 1024

/** Small enough to stay in the processor's cache between read and hash. */
const READ_AT_ONCE_BYTES = 256 * 1024

/** The hash of an empty file that will have about `size` bytes; null for an unknown size. */
export function emptyHash(size: number | null): PartHash {
  return size === null || size > WORTH_THE_THREAD_BYTES ? new ThreadedHash() : new PassingHash()
}

/**
 * The hash of a file with `bytes` bytes that will have about `size`. They are read first; rejects
 * when `signal` aborts.
 */
export async function continuedHash(
  file: UncachedFile,
  { bytes, size, signal }: { bytes: number; size: number | null; signal: AbortSignal },
): Promise<PartHash> {
  if (Math.max(bytes, size ?? 0) > WORTH_THE_THREAD_BYTES) {
    const hash = new ThreadedHash()
    try {
      await unlessAborted(hash.read(file.descriptors, bytes), signal)
      return hash
    } catch (reason) {
      await hash.end()
      throw reason
    }
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
