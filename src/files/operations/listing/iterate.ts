import type { FileEntry } from '../../../core/service/file.ts'
import type { FilesLogLine } from '../../log-line.ts'
import type { Collection, FilePage, FileQuery } from './list-page.ts'
import { ListingCheck, type PagePlace } from './listing-check.ts'

export type ListPage = (query: FileQuery) => Promise<FilePage>

/**
 * The pages of a collection, each id once. Oldest entries come first: new ones land at the end and
 * shift no page. A warning tells when the end is not proven.
 */
export async function* iteratePages(
  list: ListPage,
  collection: Collection,
  log: (line: FilesLogLine) => void,
): AsyncGenerator<FilePage> {
  const check = new ListingCheck(collection.service)
  let place: PagePlace | null = FIRST_PAGE
  while (place !== null) {
    const page = await list(pageQuery(collection, place))
    const { fresh, next } = check.take(place, page)
    yield { ...page, items: fresh, nextPage: next?.page ?? null, nextToken: next?.token ?? null }
    place = next
  }
  if (check.fault === null) return
  const message = `A listing may lack entries (${check.fault}). Take a snapshot() where that matters.`
  log({ kind: 'warning', service: collection.service, message })
}

export async function* iterateEntries(pages: AsyncIterable<FilePage>): AsyncGenerator<FileEntry> {
  for await (const page of pages) yield* page.items
}

/** The place at which a listing begins. */
export const FIRST_PAGE: PagePlace = { page: 1, token: null }

/** The query of one page of a collection, oldest entries first. */
export function pageQuery(collection: Collection, { page, token }: PagePlace): FileQuery {
  const query: FileQuery = { ...collection, page, sort: 'createdAt' }
  return token === null ? query : { ...query, pageToken: token }
}
