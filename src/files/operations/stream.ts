import { createHash } from 'node:crypto'
import type { Downloadable, FileHash } from '../../core/service/file.ts'
import type { Call } from '../call/call.ts'
import type { ClientParts } from '../call/client-parts.ts'
import { readBytes } from './bytes/read-bytes.ts'
import { knowFile } from './bytes/require-file.ts'

/**
 * The bytes of a file in order from an offset on, each once. Throws `ProtocolError` when the file
 * changes after bytes were handed out; what came until then may be of two versions.
 */
export async function* streamBytes(
  parts: ClientParts,
  call: Call,
  given: Downloadable,
  from: number,
): AsyncGenerator<Uint8Array> {
  let handedOut = from
  let at = from
  const file = await knowFile(parts, call, given)
  const start = { file, offset: from, version: null, size: file.size }
  for await (const read of readBytes(parts, call, start, { mayRestart: false })) {
    if (read.kind === 'from') at = read.offset
    else {
      const known = Math.min(read.bytes.byteLength, handedOut - at)
      at += read.bytes.byteLength
      handedOut = Math.max(handedOut, at)
      // A copy: the caller may keep it, and the memory is used again.
      const fresh = read.bytes.slice(known)
      if (fresh.byteLength > 0) yield fresh
    }
  }
}

/** Hashes a file's bytes as they arrive, over as many connections and URLs as needed. */
export async function hashFile(parts: ClientParts, call: Call, given: Downloadable): Promise<FileHash> {
  let hash = createHash('sha256')
  let bytes = 0
  const file = await knowFile(parts, call, given)
  for await (const read of readBytes(parts, call, { file, offset: 0, version: null, size: file.size })) {
    if (read.kind === 'chunk') {
      hash.update(read.bytes)
      bytes += read.bytes.byteLength
    } else if (read.offset === 0) {
      // The file has changed, or the server cannot send from the middle: start again.
      hash = createHash('sha256')
      bytes = 0
    }
  }
  return { sha256: hash.digest('hex'), bytes, proof: file.size === null ? 'none' : 'size' }
}
