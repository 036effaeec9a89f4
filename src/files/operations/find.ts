import { posix } from 'node:path'
import type { FileDetails, FileEntry, FilePlace } from '../../core/service/file.ts'
import { isProvenMissing } from '../call/decide-resend.ts'
import { InvalidRequestError } from '../errors.ts'
import { storagePath } from '../http/request-url.ts'

const FACTS = { operation: 'find', service: null } as const

/** How a place is looked at: an entry by its id, or the entries of a folder. */
export interface Sight {
  get: (id: string) => Promise<FileDetails>
  iterate: (folder: string) => AsyncIterable<FileEntry>
}

/**
 * The entry at a place, or null when the service's own 404, or the whole of its folder, proves that
 * there is none.
 */
export async function findEntry({ id, path }: Pick<FilePlace, 'id' | 'path'>, sight: Sight): Promise<FileEntry | null> {
  try {
    if (id != null) return plainEntry(await sight.get(id))
    if (path !== undefined) return await findByPath(storagePath(path, FACTS), sight)
  } catch (error) {
    if (isProvenMissing(error)) return null
    throw error
  }
  throw new InvalidRequestError('A place needs an id or a path.', FACTS)
}

async function findByPath(path: string, { iterate }: Sight): Promise<FileEntry | null> {
  if (path === '/') throw new InvalidRequestError('The root of a storage is no entry.', FACTS)
  for await (const entry of iterate(posix.dirname(path))) {
    if (entry.path.normalize('NFC') === path) return entry
  }
  return null
}

/** Found by its id or by its path, it looks the same. */
function plainEntry({ webViewLink, thumbnailUrl, owner, shared, ...entry }: FileDetails): FileEntry {
  return entry
}
