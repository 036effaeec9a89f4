import { UpshotError } from '../../core/errors.ts'
import type { FileEntry } from '../../core/service/file.ts'
import { type Clock, systemClock } from '../../core/time.ts'
import { KeptHashes } from './kept-hashes.ts'
import { PartFile } from './part-file.ts'

interface Saving {
  /** Path of the finished file; its directory is created. */
  to: string
  file: Pick<FileEntry, 'service' | 'id' | 'size' | 'modifiedAt'>
  /** The bytes of the file as it is described, from an offset on. */
  open: (from: number) => AsyncIterable<Uint8Array | string>
  onProgress: (bytes: number) => void
  signal: AbortSignal
  clock?: Clock
}

/** Nothing but size and date, which are compared, tells the version of bytes that pass a server. */
const UNMARKED = { host: null, etag: null, modified: null, type: null, condition: null }

/**
 * Writes bytes that another program reads to a path, atomically. A part of an earlier download is
 * continued where the file has the same size and date. Resolves to the offset, too.
 */
export async function saveBytes({ to, file, open, onProgress, signal, clock = systemClock }: Saving) {
  const { service, id, size, modifiedAt } = file
  const wanted = { service, id, size, modifiedAt }
  const part = await PartFile.open({ to, wanted, resume: true, kept: new KeptHashes(), clock, signal })
  const resumedFrom = part.bytes
  try {
    await part.expectFrom(resumedFrom, part.version ?? UNMARKED)
    const isWhole = resumedFrom > 0 && resumedFrom === size
    for await (const chunk of isWhole ? [] : open(resumedFrom)) {
      await part.append(Buffer.from(chunk))
      onProgress(part.bytes)
    }
    if (size !== null && part.bytes !== size) {
      throw new UpshotError('service_failed', `${part.bytes} of ${size} bytes arrived.`, { fix: 'Run it again.' })
    }
    return { path: to, ...(await part.finish()), resumedFrom, proof: size === null ? 'none' : 'size' }
  } catch (error) {
    await part.leave()
    throw error
  }
}
