import { type ComparedEntry, compareFolders, type Standing } from '../../core/service/compare-folders.ts'
import type { FileEntry } from '../../core/service/file.ts'
import type { Snapshot } from '../../core/service/files-api.ts'
import type { StorageName } from '../../core/service/storage.ts'
import type { AccountFiles, Work } from '../ports/surroundings.ts'

interface Folder {
  service: StorageName
  path: string
}

interface Comparison extends Work {
  /** Reads what seems the same. */
  content: boolean
  /** Tells what is the same, too. */
  all: boolean
  /** Entries of each folder. */
  limit: number
}

/** Two folders by the paths below them. */
export async function compareFiles(
  api: AccountFiles,
  [one, other]: readonly [Folder, Folder],
  { content, all, limit, ...work }: Comparison,
) {
  const read = async ({ service, path }: Folder) => ({
    service,
    path,
    ...(await api.snapshot({ service, path, recursive: true }, { max: limit, signal: work.signal })),
  })
  const [here, there] = await Promise.all([read(one), read(other)])
  const listed = compareFolders(here, there)
  const compared = content ? await compareContents(api, listed, work) : listed
  const counts: Record<Standing, number> = { same: 0, differs: 0, only_one: 0, only_other: 0, unknown: 0 }
  for (const { standing } of compared) counts[standing] += 1
  const shown = compared.filter(({ standing }) => all || standing !== 'same')
  return { one: describeFolder(here), other: describeFolder(there), counts, items: shown.map(describePair) }
}

/** Reads what seems the same; two files at once, so that a plan's rate is shared evenly. */
async function compareContents(api: AccountFiles, listed: readonly ComparedEntry[], { signal, tell }: Work) {
  const total = listed.filter(isReadable).length
  const compared: ComparedEntry[] = []
  let done = 0
  for (const pair of listed) {
    compared.push(isReadable(pair) ? await compareContent(api, pair, signal) : pair)
    if (isReadable(pair)) tell({ done: ++done, total })
  }
  return compared
}

function isReadable(pair: ComparedEntry): pair is ComparedEntry & { one: FileEntry; other: FileEntry } {
  return pair.standing === 'same' && pair.one?.type === 'file'
}

async function compareContent(
  api: AccountFiles,
  pair: ComparedEntry & { one: FileEntry; other: FileEntry },
  signal: AbortSignal,
): Promise<ComparedEntry> {
  const [one, other] = await Promise.all([api.hash(pair.one, { signal }), api.hash(pair.other, { signal })])
  // A file that went meanwhile, or whose bytes may be those of an error page, proves nothing.
  if (one?.proof !== 'size' || other?.proof !== 'size') return { ...pair, standing: 'unknown' }
  return one.sha256 === other.sha256 ? pair : { ...pair, standing: 'differs', by: 'content' }
}

function describeFolder({ service, path, items, complete, reason }: Folder & Snapshot) {
  return { service, path, entries: items.length, complete, reason }
}

function describePair({ one, other, ...pair }: ComparedEntry) {
  return { ...pair, one: one && describeEntry(one), other: other && describeEntry(other) }
}

function describeEntry({ id, type, size, path, modifiedAt }: FileEntry) {
  return { id, type, size, path, modifiedAt }
}
