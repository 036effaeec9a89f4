import { posix } from 'node:path'
import { UpshotError } from '../../../core/errors.ts'
import type { FileEntry } from '../../../core/service/file.ts'
import type { StorageName } from '../../../core/service/storage.ts'
import type { FilesClient } from '../../../files/index.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { parsePlace } from './files-client.ts'

/** An entry of a storage, by id or by path. */
type FileTarget = { service: StorageName } & ({ id: string } | { path: string })

/** Reads `<service:id>` or `<service:/path>`. A path begins with a slash. */
export function parseTarget(text: string, config: Pick<Config, 'service'>): FileTarget {
  const { service, path } = parsePlace(text, config)
  if (path === '/') {
    throw new UpshotError('invalid_request', `"${text}" names a whole storage, not an entry.`, {
      fix: 'Write <service:/path> or <service:id>, such as storage_a:/reports/june.pdf.',
    })
  }
  return path.startsWith('/') ? { service, path: posix.normalize(path).replace(/\/$/, '') } : { service, id: path }
}

/** The entry as it is now. Throws `not_found` or an error of the client. */
export async function findEntry(files: FilesClient, target: FileTarget, signal: AbortSignal): Promise<FileEntry> {
  if ('id' in target) return files.get(target, { signal })
  const { service, path } = target
  const entry = await files.find({ service, path }, { signal })
  if (entry) return entry
  throw new UpshotError('not_found', `There is nothing at ${service}:${path}.`, {
    fix: `List the parent folder: upshot files ls ${service}:${posix.dirname(path)}`,
  })
}
