import { createHash } from 'node:crypto'
import type { FileHash, FileRef } from '../../core/service/file.ts'
import type { Call, ClientParts } from '../call/call.ts'
import { readBytes } from './read-bytes.ts'

/** Hashes a file's bytes as they come, over as many connections and URLs as it takes. */
export async function hashFile(wire: ClientParts, call: Call, { service, id }: FileRef): Promise<FileHash> {
  let hash = createHash('sha256')
  let bytes = 0
  for await (const read of readBytes(wire, call, { file: { service, id }, offset: 0, etag: null, size: null })) {
    if (read.kind === 'chunk') {
      hash.update(read.bytes)
      bytes += read.bytes.byteLength
    } else if (read.offset === 0) {
      // What came before was of a file that has changed since, or the server cannot go on in the
      // middle.
      hash = createHash('sha256')
      bytes = 0
    }
  }
  return { sha256: hash.digest('hex'), bytes }
}
