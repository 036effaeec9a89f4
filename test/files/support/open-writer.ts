import { ManualClock } from '../../../src/core/time.ts'
import { BlockWriter } from '../../../src/files/disk/block-writer.ts'
import { emptyHash } from '../../../src/files/disk/threaded-hash.ts'
import { UncachedFile } from '../../../src/files/disk/uncached-file.ts'

/** A writer that appends to a file from byte `at` on. */
export async function openWriter(path: string, { at = 0 } = {}) {
  const file = await UncachedFile.open(path)
  const writer = new BlockWriter(file, { hash: emptyHash(0), at, clock: new ManualClock() })
  return {
    file,
    writer,
    async appendAll(bytes: Uint8Array, pieceBytes = 50_000) {
      for (let from = 0; from < bytes.length; from += pieceBytes) {
        const piece = Uint8Array.from(bytes.subarray(from, from + pieceBytes))
        await writer.append(piece)
        // The caller may reuse the memory after `append`.
        piece.fill(0)
      }
    },
    async [Symbol.asyncDispose]() {
      await writer.close()
      await file.close()
    },
  }
}
