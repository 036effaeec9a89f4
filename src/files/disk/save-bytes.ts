import { UpshotError } from '../../core/errors.ts'
import type { FileEntry } from '../../core/service/file.ts'
import { type Clock, systemClock } from '../../core/time.ts'
import { PartFile } from './part-file.ts'
import { KeptHashes } from './part-hash.ts'

interface Saving {
  /** Path of the finished file; its directory is created. */
  to: string
  file: Pick<FileEntry, 'service' | 'id' | 'size' | 'modifiedAt'>
  /** The bytes of the file as it is described, from an offset on. */
  open: (from: number) => AsyncIterable<Uint8Array | string>
  look: () => Promise<Pick<FileEntry, 'size' | 'modifiedAt'>>
  onProgress: (bytes: number) => void
  signal: AbortSignal
  clock?: Clock
}

/** Nothing but size and date, which are compared, tells the version of bytes that pass a server. */
const UNMARKED = { host: null, etag: null, modified: null, type: null, condition: null }

/**
 * Writes bytes that another program reads to a path, atomically. A part of an earlier download is
 * continued where size and date stay the same until the last byte. Resolves to the offset, too. See
 * decision 38.
 */
export async function saveBytes({ to, file, open, look, onProgress, signal, clock = systemClock }: Saving) {
  const { service, id, size, modifiedAt } = file
  const wanted = { service, id, size, modifiedAt }
  const part = await PartFile.open({ to, wanted, resume: modifiedAt !== null, kept: new KeptHashes(), clock, signal })
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
    if (resumedFrom > 0) {
      const now = await look()
      if (now.size !== size || now.modifiedAt !== modifiedAt) {
        await part.discard()
        throw new UpshotError('service_failed', 'The file changed while it was read.', { fix: 'Run it again.' })
      }
    }
    return { path: to, ...(await part.finish()), resumedFrom, proof: size === null ? 'none' : 'size' }
  } catch (error) {
    await part.leave()
    throw error
  }
}
