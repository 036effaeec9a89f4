import type { FileRef } from '../../core/service/file.ts'
import { type Call, type ClientParts, factsOf } from '../call/call.ts'
import { ProtocolError } from '../errors.ts'
import { readBytes } from './read-bytes.ts'

/**
 * The bytes of a file in order, each once, over broken connections too. Throws `ProtocolError` when
 * the file changes on the way: what was handed out cannot be taken back.
 */
export async function* streamBytes(
  wire: ClientParts,
  call: Call,
  file: FileRef & { size?: number | null },
): AsyncGenerator<Uint8Array> {
  let handedOut = 0
  let at = 0
  let mark: { etag: string | null } | null = null
  for await (const read of readBytes(wire, call, { file, offset: 0, etag: null, size: file.size ?? null })) {
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
      // A copy, as nobody knows how long the caller keeps it.
      const fresh = read.bytes.slice(known)
      if (fresh.byteLength > 0) yield fresh
    }
  }
}
