import { createHash, type Hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'

/** Small enough to stay in the processor's cache between the read and the hash. */
export const HASHED_AT_ONCE_BYTES = 256 * 1024

/** A part larger than this is worth a thread: hashing it first would hold up the download for as long. */
const WORTH_A_THREAD_BYTES = 8 * 1024 * 1024

/** The thread is told about more bytes this often. */
const TOLD_EVERY_BYTES = 4 * 1024 * 1024

/** How far the thread may read. */
export interface HashOrder {
  upTo: number
  isEnd: boolean
}

/** The SHA-256 of a file that is being written at its end. */
export interface PartHash {
  /** Takes in bytes that are appended. */
  update(bytes: Uint8Array): void
  /** So many bytes from the beginning can be read from the file by now. */
  reach(bytes: number): void
  /** The hash of the first `bytes` bytes, which must have been reached. */
  digest(bytes: number): Promise<string>
  /** Ends whatever is still going on. Gives the hash of all that was taken in, to be continued; null where a thread has it. */
  stop(): Promise<Hash | null>
}

/** The hash of a file that begins empty: its bytes are hashed as they pass by. */
export function emptyHash(): PartHash {
  return passingHash(createHash('sha256'))
}

/**
 * The hash of a file that has `bytes` bytes already; `kept` is theirs, where it is known. Otherwise they are read: those of a
 * large file in a thread, while more is appended.
 */
export async function continuedHash(handle: FileHandle, bytes: number, kept: Hash | null = null): Promise<PartHash> {
  if (kept) return passingHash(kept)
  if (bytes > WORTH_A_THREAD_BYTES) return new FollowingHash(handle.fd, bytes)
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(Math.min(bytes, HASHED_AT_ONCE_BYTES))
  for (let at = 0; at < bytes; ) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.byteLength, at)
    if (bytesRead === 0) break
    hash.update(buffer.subarray(0, bytesRead))
    at += bytesRead
  }
  return passingHash(hash)
}

function passingHash(hash: Hash): PartHash {
  return {
    update: (bytes) => void hash.update(bytes),
    reach() {},
    digest: async () => hash.digest('hex'),
    stop: async () => hash,
  }
}

class FollowingHash implements PartHash {
  readonly #thread: Worker
  readonly #digest: Promise<string>
  #told: number

  constructor(fd: number, bytes: number) {
    // The same ending as this file: source here, JavaScript in the package.
    const entry = new URL(import.meta.url.replace(/part-hash(\.\w+)$/, 'hash-thread$1'))
    this.#thread = new Worker(entry, { workerData: { fd } })
    this.#digest = new Promise((resolve, reject) => {
      this.#thread.once('message', resolve).once('error', reject)
      this.#thread.once('exit', () => reject(new Error('the thread that hashes has ended')))
    })
    // Whoever asks for the hash gets the error; where nobody does, there is none to be told.
    this.#digest.catch(() => {})
    this.#told = bytes
    this.#tell({ upTo: bytes, isEnd: false })
  }

  update(): void {}

  reach(bytes: number): void {
    if (bytes - this.#told < TOLD_EVERY_BYTES) return
    this.#told = bytes
    this.#tell({ upTo: bytes, isEnd: false })
  }

  digest(bytes: number): Promise<string> {
    this.#tell({ upTo: bytes, isEnd: true })
    return this.#digest
  }

  async stop(): Promise<null> {
    await this.#thread.terminate()
    return null
  }

  #tell(order: HashOrder): void {
    this.#thread.postMessage(order)
  }
}
