import { resolve } from 'node:path'
import type { Downloadable } from '../../core/service/file.ts'
import type { DownloadedFile } from '../../core/service/files-api.ts'
import type { Call } from '../call/call.ts'
import type { ClientParts } from '../call/client-parts.ts'
import { PartFile } from '../disk/part-file.ts'
import { ProtocolError } from '../errors.ts'
import { readBytes } from './bytes/read-bytes.ts'
import { isSameVersion, type KnownFile, knowFile } from './bytes/require-file.ts'

/** Options of `download`. */
export interface DownloadRequest {
  /** Path of the file to write; its directory is created. */
  to: string
  /** Continue what an earlier download to this path left. Default true. */
  resume?: boolean
  /** Called after each chunk, in bytes. `total` is null while the size is unknown. */
  onProgress?: (progress: { bytes: number; total: number | null }) => void
}

/**
 * Writes a file's bytes to a path, atomically. A failed download leaves a part that the next one
 * continues.
 */
export async function downloadFile(
  parts: ClientParts,
  call: Call,
  given: Downloadable,
  request: DownloadRequest,
): Promise<DownloadedFile> {
  const to = resolve(request.to)
  const file = await knowFile(parts, call, given)
  const { service, id, size, modifiedAt } = file
  const wanted = { service, id, size, modifiedAt }
  const { resume = true } = request
  const { clock } = parts.settings
  const part = await PartFile.open({ to, wanted, resume, kept: parts.partHashes, clock, signal: call.signal })
  try {
    const resumedFrom = await fill(parts, call, { part, file, request })
    return { path: to, ...(await part.finish()), resumedFrom, proof: size === null ? 'none' : 'size' }
  } catch (error) {
    const isHopeless = error instanceof ProtocolError && !error.retryable
    await (isHopeless ? part.discard() : part.leave())
    throw error
  }
}

/** Resolves to the offset at which an earlier part was continued, 0 for none. */
async function fill(
  parts: ClientParts,
  call: Call,
  { part, file, request }: { part: PartFile; file: KnownFile; request: DownloadRequest },
): Promise<number> {
  const found = part.bytes
  // All bytes are there, and nobody has looked since whether the file still is what it was.
  if (found > 0 && found === file.size && (await isSameVersion(parts, call, file))) return found
  let isContinued = found > 0
  let total = file.size
  const position = { file, offset: found, version: part.version, size: file.size }
  for await (const read of readBytes(parts, call, position)) {
    if (read.kind === 'from') {
      isContinued &&= read.offset > 0
      total = read.size
      await part.expectFrom(read.offset, read.version)
    } else {
      await part.append(read.bytes)
      request.onProgress?.({ bytes: part.bytes, total })
    }
  }
  return isContinued ? found : 0
}
