import { createHash } from 'node:crypto'
import { ThreadedHash } from './threaded-hash.ts'
import type { UncachedFile } from './uncached-file.ts'

/** A file larger than this is worth the thread: beside its hash, nothing else would get a turn. */
const WORTH_THE_THREAD_BYTES = 8 * 1024 * 1024

/** Small enough to stay in the processor's cache between the read and the hash. */
const READ_AT_ONCE_BYTES = 256 * 1024

/** The SHA-256 of a file that is being written at its end. */
export interface PartHash {
  /** Takes in bytes that are appended; resolves when their memory may be used for others. */
  update(bytes: Uint8Array): Promise<void>
  /** So many bytes from the beginning can be read from the file by now. */
  reach(bytes: number): void
  /**
   * The hash of the first `bytes` bytes, all of which were taken in and reached. It ends with that.
   */
  digest(bytes: number): Promise<string>
  /**
   * Whether it knows the first `bytes` bytes and can be continued from there without the file.
   * Otherwise it has ended.
   */
  settle(bytes: number): Promise<boolean>
  /** Ends whatever is still going on. */
  end(): Promise<void>
}

/**
 * The hash of a file that begins empty and will have about `size` bytes, or nobody knows how many.
 */
export function emptyHash(size: number | null): PartHash {
  return size === null || size > WORTH_THE_THREAD_BYTES ? ThreadedHash.empty() : new PassingHash()
}

/**
 * The hash of a file that has `bytes` bytes already and will have about `size`. They are read:
 * those of a very large file while more is appended. Rejects when `signal` aborts.
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

/** Hashes bytes as they pass by. */
class PassingHash implements PartHash {
  readonly #hash = createHash('sha256')
  #hasEnded = false

  async update(bytes: Uint8Array): Promise<void> {
    this.#hash.update(bytes)
  }

  reach(): void {}

  async digest(): Promise<string> {
    this.#hasEnded = true
    return this.#hash.digest('hex')
  }

  async settle(): Promise<boolean> {
    return !this.#hasEnded
  }

  async end(): Promise<void> {}
}
