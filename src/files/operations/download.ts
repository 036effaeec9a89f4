import { resolve } from 'node:path'
import type { FileRef } from '../../core/service/file.ts'
import type { DownloadedFile } from '../../core/service/files-api.ts'
import type { Call, ClientParts } from '../call/call.ts'
import { type Marks, PartFile } from '../disk/part-file.ts'
import { ProtocolError } from '../errors.ts'
import { readBytes } from './read-bytes.ts'

/**
 * An entry, or as much of one as is known: a size and a date make a download safer and easier to
 * resume.
 */
export type Downloadable = FileRef & { size?: number | null; modifiedAt?: string | null }

export interface DownloadRequest {
  /** Path of the file to write. Its directory is made if need be. */
  to: string
  /** Continue what an earlier download to the same path left behind; default true. */
  resume?: boolean
  /** `total` is null where the size is unknown. */
  onProgress?: (progress: { bytes: number; total: number | null }) => void
}

/**
 * Writes a file's bytes to a path, atomically; what a failure leaves is continued by the next call.
 */
export async function downloadFile(
  wire: ClientParts,
  call: Call,
  file: Downloadable,
  request: DownloadRequest,
): Promise<DownloadedFile> {
  const to = resolve(request.to)
  const wanted = { service: file.service, id: file.id, size: file.size ?? null, modifiedAt: file.modifiedAt ?? null }
  const { resume = true } = request
  const { clock } = wire.settings
  const part = await PartFile.open({ to, wanted, resume, kept: wire.partHashes, clock, signal: call.signal })
  try {
    const resumedFrom = await fill(wire, call, { part, wanted, request })
    return { path: to, ...(await part.finish()), resumedFrom }
  } catch (error) {
    const isHopeless = error instanceof ProtocolError && !error.retryable
    await (isHopeless ? part.discard() : part.leave())
    throw error
  }
}

/** Resolves to the byte from which an earlier part was continued. */
async function fill(
  wire: ClientParts,
  call: Call,
  { part, wanted, request }: { part: PartFile; wanted: Omit<Marks, 'etag'> & FileRef; request: DownloadRequest },
): Promise<number> {
  const found = part.bytes
  if (found > 0 && found === wanted.size) return found
  let isContinued = found > 0
  let total = wanted.size
  const position = { file: wanted, offset: found, etag: part.etag, size: wanted.size }
  for await (const read of readBytes(wire, call, position)) {
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
