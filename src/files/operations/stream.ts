import type { FileRef } from '../../core/service/file.ts'
import { type Call, factsOf } from '../call/call.ts'
import type { ClientParts } from '../call/client-parts.ts'
import { ProtocolError } from '../errors.ts'
import { readBytes } from './read-bytes.ts'

/**
 * The bytes of a file in order, each once. Throws `ProtocolError` when the file changes after bytes
 * were handed out.
 */
export async function* streamBytes(
  parts: ClientParts,
  call: Call,
  file: FileRef & { size?: number | null },
): AsyncGenerator<Uint8Array> {
  let handedOut = 0
  let at = 0
  let mark: { etag: string | null } | null = null
  for await (const read of readBytes(parts, call, { file, offset: 0, etag: null, size: file.size ?? null })) {
    if (read.kind === 'from') {
      if (handedOut > 0 && mark?.etag !== read.etag) {
        throw new ProtocolError('The file changed while it was being read.', factsOf(call))
      }
      mark = { etag: read.etag }
      at = read.offset
    } else {
      const known = Math.min(read.bytes.byteLength, handedOut - at)
      at += read.bytes.byteLength
      handedOut = Math.max(handedOut, at)
      // A copy: the caller may keep it, and the memory is used again.
      const fresh = read.bytes.slice(known)
      if (fresh.byteLength > 0) yield fresh
    }
  }
}
