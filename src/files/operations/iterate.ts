import type { FileEntry } from '../../core/service/file.ts'
import type { ListQuery, Snapshot } from '../../core/service/files-api.ts'
import type { FilesLogLine } from '../log-line.ts'
import type { FilePage, FileQuery } from './list-page.ts'

/** The entries of a storage below one path. */
export type Collection = Omit<ListQuery, 'page' | 'limit' | 'sort'>

/** Lists one page of a collection. */
type ListPage = (query: FileQuery) => Promise<FilePage>

/** The default bound of a snapshot, in entries. */
const MAX_PER_SNAPSHOT = 50_000

/**
 * The pages of a collection, each id once. Oldest entries come first: new ones land at the end and
 * shift no page.
 */
export async function* iteratePages(
  list: ListPage,
  collection: Collection,
  log: (line: FilesLogLine) => void,
): AsyncGenerator<FilePage> {
  const seen = new Set<string>()
  let token: string | null = null
  for (let number = 1; ; number++) {
    const query: FileQuery = { ...collection, page: number, sort: 'createdAt' }
    const page: FilePage = await list(token === null ? query : { ...query, pageToken: token })
    const fresh = page.items.filter((entry) => !seen.has(entry.id))
    for (const entry of fresh) seen.add(entry.id)
    // A server that ignores `page` sends the same entries for ever.
    const isRepeated = page.items.length > 0 && fresh.length === 0
    if (isRepeated) {
      log({
        kind: 'warning',
        service: collection.service,
        message: 'A page held only entries that were listed before. The listing ends there.',
      })
    }
    const isLast = page.nextPage === null || isRepeated
    yield { ...page, items: fresh, nextPage: isLast ? null : page.nextPage, nextToken: isLast ? null : page.nextToken }
    if (isLast) return
    token = page.nextToken
  }
}

/** The entries of the pages, one by one. */
export async function* iterateEntries(pages: AsyncIterable<FilePage>): AsyncGenerator<FileEntry> {
  for await (const page of pages) yield* page.items
}

/**
 * Reads up to `max` entries before the caller acts on them: a change cannot shift the pages
 * meanwhile.
 */
export async function takeSnapshot(pages: AsyncIterable<FilePage>, max: number = MAX_PER_SNAPSHOT): Promise<Snapshot> {
  const items: FileEntry[] = []
  for await (const page of pages) {
    items.push(...page.items)
    if (items.length > max) return { items: items.slice(0, max), complete: false }
  }
  return { items, complete: true }
}
