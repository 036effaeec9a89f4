import type { FileEntry } from '../../core/service/file.ts'
import type { ListQuery, Snapshot } from '../../core/service/files-api.ts'
import type { FilesLogLine } from '../log-line.ts'
import type { FilePage, FileQuery } from './list-page.ts'

export type Collection = Omit<ListQuery, 'page' | 'limit' | 'sort'>

/** Lists one page of a collection. */
export type ListPage = (query: FileQuery) => Promise<FilePage>

const MAX_PER_SNAPSHOT = 50_000

/**
 * Every page of a collection, oldest entries first: what is added meanwhile lands at the end and
 * shifts nothing. Each id comes once. Ends where the service says so, and at a page that brings
 * nothing new, for a server that ignores `page`.
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
    const isRepeated = page.items.length > 0 && fresh.length === 0
    if (isRepeated) {
      log({
        kind: 'warning',
        service: collection.service,
        message: 'A page repeated known entries only; listing ends there.',
      })
    }
    const isLast = page.nextPage === null || isRepeated
    yield { ...page, items: fresh, nextPage: isLast ? null : page.nextPage, nextToken: isLast ? null : page.nextToken }
    if (isLast) return
    token = page.nextToken
  }
}

/** Every entry of the pages, one by one. */
export async function* iterateEntries(pages: AsyncIterable<FilePage>): AsyncGenerator<FileEntry> {
  for await (const page of pages) yield* page.items
}

/**
 * All pages before anything is done with them, so that what is done cannot shift them. `max` counts
 * entries.
 */
export async function takeSnapshot(pages: AsyncIterable<FilePage>, max: number = MAX_PER_SNAPSHOT): Promise<Snapshot> {
  const items: FileEntry[] = []
  for await (const page of pages) {
    items.push(...page.items)
    if (items.length > max) return { items: items.slice(0, max), complete: false }
  }
  return { items, complete: true }
}
