import { posix } from 'node:path'
import { type FileEntry, type FilesApi, StepError, type StorageName } from 'upshot'

/** The entry as it is now: by its id, or by its path where no id is known. Null when the service says there is none. */
export async function findFile(
  files: FilesApi,
  { service, path, id }: { service: StorageName; path: string; id: string | null },
): Promise<FileEntry | null> {
  try {
    if (id !== null) return await files.get({ service, id })
    for await (const entry of files.iterate({ service, path: posix.dirname(path) })) {
      if (entry.path === path) return entry
    }
    return null
  } catch (error) {
    if (isGone(error)) return null
    throw error
  }
}

/** Whether a call failed because the entry does not exist. A 404 without a code is a proxy's and proves nothing. */
export function isGone(error: unknown): boolean {
  return error instanceof StepError && error.failure.name === 'NotFoundError' && error.failure.code !== undefined
}
