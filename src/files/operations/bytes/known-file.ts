import type { Downloadable, FileEntry, FileRef } from '../../../core/service/file.ts'
import type { Call } from '../../call/call.ts'
import type { ClientParts } from '../../call/client-parts.ts'
import { getDetails } from '../get.ts'

/** A file as the service described it before its bytes were read. */
export interface KnownFile extends FileRef, Pick<FileEntry, 'size' | 'modifiedAt' | 'mimeType'> {
  /** Null where it is not known. */
  name: string | null
  /** True where the caller named no size, so that a look of our own told it. */
  isLookedUp: boolean
}

/** Completes what the caller knows of a file. Without a size, it reads the entry first. */
export async function knowFile(parts: ClientParts, call: Call, file: Downloadable): Promise<KnownFile> {
  const { service, id, size = null, modifiedAt = null, mimeType = null, name = null } = file
  if (size !== null) return { service, id, size, modifiedAt, mimeType, name, isLookedUp: false }
  return lookAgain(parts, call, { service, id, size, modifiedAt, mimeType, name, isLookedUp: true })
}

/** The file as it is now. A size that the caller named stays: other bytes are not what it wants. */
export async function lookAgain(parts: ClientParts, call: Call, known: KnownFile): Promise<KnownFile> {
  const { size, modifiedAt, mimeType, name } = await getDetails(parts, call, known)
  return { ...known, modifiedAt, mimeType, name, size: known.isLookedUp ? size : known.size }
}

/** Whether the file still has the size and date that it had. Without both, nobody can say. */
export async function isSameVersion(parts: ClientParts, call: Call, known: KnownFile): Promise<boolean> {
  if (known.size === null || known.modifiedAt === null) return false
  const now = await getDetails(parts, call, known)
  return now.size === known.size && Date.parse(now.modifiedAt ?? '') === Date.parse(known.modifiedAt)
}
