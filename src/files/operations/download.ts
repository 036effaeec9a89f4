import { resolve } from 'node:path'
import type { FileRef } from '../../core/service/file.ts'
import type { DownloadedFile } from '../../core/service/files-api.ts'
import type { Call } from '../call/call.ts'
import type { ClientParts } from '../call/client-parts.ts'
import { type Marks, PartFile } from '../disk/part-file.ts'
import { ProtocolError } from '../errors.ts'
import { readBytes } from './read-bytes.ts'

/**
 * A file to download, such as a listed entry. With its size and date the client can tell whether a
 * partial download still fits.
 */
export type Downloadable = FileRef & { size?: number | null; modifiedAt?: string | null }

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
  file: Downloadable,
  request: DownloadRequest,
): Promise<DownloadedFile> {
  const to = resolve(request.to)
  const wanted = { service: file.service, id: file.id, size: file.size ?? null, modifiedAt: file.modifiedAt ?? null }
  const { resume = true } = request
  const { clock } = parts.settings
  const part = await PartFile.open({ to, wanted, resume, kept: parts.partHashes, clock, signal: call.signal })
  try {
    const resumedFrom = await fill(parts, call, { part, wanted, request })
    return { path: to, ...(await part.finish()), resumedFrom }
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
  { part, wanted, request }: { part: PartFile; wanted: Omit<Marks, 'etag'> & FileRef; request: DownloadRequest },
): Promise<number> {
  const found = part.bytes
  if (found > 0 && found === wanted.size) return found
  let isContinued = found > 0
  let total = wanted.size
  const position = { file: wanted, offset: found, etag: part.etag, size: wanted.size }
  for await (const read of readBytes(parts, call, position)) {
    if (read.kind === 'from') {
      isContinued &&= read.offset > 0
      total = read.size
      await part.expectFrom(read.offset, read.etag)
    } else {
      await part.append(read.bytes)
      request.onProgress?.({ bytes: part.bytes, total })
    }
  }
  return isContinued ? found : 0
}
