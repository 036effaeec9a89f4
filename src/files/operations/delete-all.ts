import { UpshotError } from '../../core/errors.ts'
import type { FileEntry } from '../../core/service/file.ts'
import type { DeleteAllOptions, DeletedFiles, DeleteOutcome } from '../../core/service/files-api.ts'

/** Deletes one entry of the list, which has so many files, if it is still as given. */
type DeleteOne = (file: FileEntry, files: number) => Promise<DeleteOutcome>

/** The basis of a share, and how many deletes begin before one of them ends. Default: all. */
interface Ways extends Pick<DeleteAllOptions, 'of'> {
  atOnce?: number
}

/**
 * Deletes each file of a list once. When one fails, the others end first. Throws `invalid_request`
 * for a folder, and for a listing that is not complete.
 */
export async function deleteAll(
  given: Iterable<FileEntry>,
  { of, atOnce = Number.POSITIVE_INFINITY }: Ways,
  deleteOne: DeleteOne,
): Promise<DeletedFiles> {
  if (of && !of.complete) {
    throw refuse(
      `The listing in \`of\` is not known to be complete (${of.reason}), so no share can be computed from it.`,
    )
  }
  const files = [...new Map([...given].map((file) => [`${file.service}:${file.id}`, file])).values()]
  const folder = files.find(({ type }) => type === 'folder')
  if (folder) throw refuse(`${folder.service}:${folder.path} is a folder. Delete the files below it.`)
  const ends = await settleAll(files, (file) => deleteOne(file, files.length), atOnce)
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed) throw failed.reason
  const result: DeletedFiles = { deleted: [], changed: [], gone: [] }
  for (const [index, end] of ends.entries()) {
    const file = files[index]
    if (end.status === 'fulfilled' && file) result[listOf(end.value)].push(file)
  }
  return result
}

/** Calls with every item, `atOnce` at a time. */
async function settleAll<Item, End>(items: readonly Item[], call: (item: Item) => Promise<End>, atOnce: number) {
  if (items.length <= atOnce) return Promise.allSettled(items.map(call))
  const ends: PromiseSettledResult<End>[] = []
  const left = items.entries()
  const work = async () => {
    for (const [index, item] of left) [ends[index]] = await Promise.allSettled([call(item)])
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return ends
}

function listOf({ outcome }: DeleteOutcome): keyof DeletedFiles {
  if (outcome === 'deleted') return 'deleted'
  return outcome === 'changed' || outcome === 'dry_run' ? 'changed' : 'gone'
}

function refuse(message: string): UpshotError {
  return new UpshotError('invalid_request', message)
}
