import type { PartHash } from './part-hash.ts'
import { PassingHash } from './part-hash.ts'
import { ThreadedHash } from './threaded-hash.ts'
import type { UncachedFile } from './uncached-file.ts'

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
