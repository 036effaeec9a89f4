import { posix } from 'node:path'
import type { FileDetails, FileEntry, FilePlace } from '../../core/service/file.ts'
import { isProvenMissing } from '../call/decide-resend.ts'
import { InvalidRequestError } from '../errors.ts'
import { storagePath } from '../http/request-url.ts'

const FACTS = { operation: 'find', service: null } as const

/** The two ways to read a place: an entry by its id, or the entries of a folder. */
interface PlaceReader {
  get: (id: string) => Promise<FileDetails>
  iterate: (folder: string) => AsyncIterable<FileEntry>
}

/**
 * The entry at a place. Null when the service's own 404, or the whole folder, proves that there is
 * none.
 */
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

async function findByPath(path: string, { iterate }: PlaceReader): Promise<FileEntry | null> {
  if (path === '/') throw new InvalidRequestError('The root of a storage is not an entry.', FACTS)
  for await (const entry of iterate(posix.dirname(path))) {
    if (entry.path.normalize('NFC') === path) return entry
  }
  return null
}

/** Removes the details: an entry looks the same however it was found. */
function plainEntry({ webViewLink, thumbnailUrl, owner, shared, ...entry }: FileDetails): FileEntry {
  return entry
}
