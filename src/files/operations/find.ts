import { posix } from 'node:path'
import type { FileDetails, FileEntry, FilePlace } from '../../core/service/file.ts'
import type { Snapshot, SnapshotOptions } from '../../core/service/files-api.ts'
import { isProvenMissing } from '../call/decide-resend.ts'
import { InvalidRequestError, ProtocolError } from '../errors.ts'
import { storagePath } from '../http/request-url.ts'

const FACTS = { operation: 'find', service: null } as const

/** The two ways to read a place: an entry by its id, or the entries of a folder. */
interface PlaceReader {
  get: (id: string) => Promise<FileDetails>
  snapshot: (folder: string, options: SnapshotOptions) => Promise<Snapshot>
}

/** The entry at a place. Null where the service's own 404, or the whole folder, proves it. */
export async function findEntry(
  { id, path }: Pick<FilePlace, 'id' | 'path'>,
  reader: PlaceReader,
): Promise<FileEntry | null> {
  try {
    if (id != null) return plainEntry(await reader.get(id))
    if (path !== undefined) return await findByPath(storagePath(path, FACTS), reader)
  } catch (error) {
    if (isProvenMissing(error)) return null
    throw error
  }
  throw new InvalidRequestError('Give an id or a path to find an entry.', FACTS)
}

/** Presence needs one look, absence a verified one. */
async function findByPath(path: string, reader: PlaceReader, verify = false): Promise<FileEntry | null> {
  if (path === '/') throw new InvalidRequestError('The root of a storage is not an entry.', FACTS)
  const { items, complete, reason } = await reader.snapshot(posix.dirname(path), { max: Infinity, verify })
  const found = items.filter((entry) => entry.path.normalize('NFC') === path)
  if (found.length > 1) throw ambiguous(path, found)
  if (found[0] !== undefined) return found[0]
  if (complete) return null
  const mayHelp = !verify && (reason === 'unverified' || reason === 'changed')
  if (!mayHelp) throw unproven(path, reason)
  return findByPath(path, reader, true)
}

/** A storage may give one name to two files. To take the first would be a guess. */
function ambiguous(path: string, found: readonly FileEntry[]): InvalidRequestError {
  const ids = found.map(({ id }) => id).join(', ')
  return new InvalidRequestError(`${found.length} entries have the path ${path}. Name one by its id: ${ids}.`, FACTS)
}

function unproven(path: string, reason: Snapshot['reason']): ProtocolError {
  return new ProtocolError(
    `No entry with the path ${path} was listed, but the listing of its folder may lack entries (${reason}).`,
    { ...FACTS, retryable: reason === 'changed' },
  )
}

/** Removes the details: an entry looks the same however it was found. */
function plainEntry({ webViewLink, thumbnailUrl, owner, shared, ...entry }: FileDetails): FileEntry {
  return entry
}
