import type { PartHash } from './part-hash.ts'
import { PassingHash } from './part-hash.ts'
import { ThreadedHash } from './threaded-hash.ts'
import type { UncachedFile } from './uncached-file.ts'

/** A file larger than this is worth the thread: beside its hash, nothing else would get a turn. */
const WORTH_THE_THREAD_BYTES = 8 * 1024 * 1024

/** Small enough to stay in the processor's cache between the read and the hash. */
const READ_AT_ONCE_BYTES = 256 * 1024

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
