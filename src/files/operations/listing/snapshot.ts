import { createHash } from 'node:crypto'
import type { FileEntry } from '../../../core/service/file.ts'
import type { IncompleteReason, Snapshot, SnapshotOptions } from '../../../core/service/files-api.ts'
import { FIRST_PAGE, ListingCheck, type ListPage, type PageCursor, pageQuery } from './iterate.ts'
import type { Collection, FilePage, FileQuery } from './list-page.ts'

/** The default bound of a snapshot, in entries. */
const MAX_PER_SNAPSHOT = 50_000

/** Readings of a listing that changes; each is compared with one more. */
const MAX_READINGS = 3

/** A page as the second look keeps it, which need not hold the entries again. */
interface PageMark {
  /** SHA-256 of the ids in their order. */
  ids: string
  nextToken: string | null
}

/** Undefined counts as left out. */
type Bounds = { [Option in keyof SnapshotOptions]: SnapshotOptions[Option] | undefined }

interface PageReader {
  list: ListPage
  /** Reads the page anew: a reply that was on its way before proves nothing. */
  mark: (query: FileQuery) => Promise<PageMark>
}

interface Reading {
  items: FileEntry[]
  /** The ids of each page that held entries, and of those before it. */
  marks: string[]
  fault: IncompleteReason | null
}

/**
 * Reads all pages before the caller acts on them, and proves that they are all. See decision 37.
 */
export async function takeSnapshot(
  reader: PageReader,
  collection: Collection,
  { max = MAX_PER_SNAPSHOT, verify = true }: Bounds = {},
): Promise<Snapshot> {
  for (let readings = 1; ; readings++) {
    const { items, marks, fault } = await readAll(reader, collection, max)
    const end = (reason: IncompleteReason | null): Snapshot => ({
      items: items.slice(0, max),
      complete: reason === null,
      reason,
    })
    if (fault !== null && fault !== 'changed') return end(fault)
    // One page is read at one moment, so nothing can shift.
    if (fault === null && marks.length <= 1) return end(null)
    if (!verify) return end(fault ?? 'unverified')
    if (fault === null && (await isUnchanged(reader, collection, marks))) return end(null)
    if (readings === MAX_READINGS) return end('changed')
  }
}

/** The part of a page that a second look compares. */
export function markPage({ items, nextToken }: FilePage): PageMark {
  const ids = createHash('sha256')
  for (const { id } of items) ids.update(JSON.stringify(id))
  return { ids: ids.digest('hex'), nextToken }
}

async function readAll({ list }: PageReader, collection: Collection, max: number): Promise<Reading> {
  const check = new ListingCheck(collection.service)
  const items: FileEntry[] = []
  const marks: string[] = []
  let heldEntries = 0
  let place: PageCursor | null = FIRST_PAGE
  while (place !== null) {
    const page = await list(pageQuery(collection, place))
    const { fresh, next } = check.take(place, page)
    items.push(...fresh)
    marks.push(markPage(page).ids)
    if (page.items.length > 0) heldEntries = marks.length
    if (items.length > max) return { items, marks, fault: 'max' }
    place = next
  }
  return { items, marks: marks.slice(0, heldEntries), fault: check.fault }
}

/** Whether a second look at the pages finds the same ids in the same places. */
async function isUnchanged({ mark }: PageReader, collection: Collection, marks: readonly string[]): Promise<boolean> {
  let place = FIRST_PAGE
  for (const [index, ids] of marks.entries()) {
    const seen = await mark(pageQuery(collection, place))
    if (seen.ids !== ids) return false
    const wasByToken = place.token !== null
    if (index < marks.length - 1 && wasByToken && seen.nextToken === null) return false
    place = { page: place.page + 1, token: seen.nextToken }
  }
  return true
}
