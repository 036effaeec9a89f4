import { createHash } from 'node:crypto'
import type { Downloadable, FileHash } from '../../core/service/file.ts'
import type { Call } from '../call/call.ts'
import type { ClientParts } from '../call/client-parts.ts'
import { readBytes } from './bytes/read-bytes.ts'
import { knowFile } from './bytes/require-file.ts'

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
