import type { FileEntry } from '../../../core/service/file.ts'
import type { IncompleteReason } from '../../../core/service/files-api.ts'
import type { StorageName } from '../../../core/service/storage.ts'
import { ProtocolError } from '../../errors.ts'
import type { FilesLogLine } from '../../log-line.ts'
import type { Collection, FilePage, FileQuery } from './list-page.ts'

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
  let place: PageCursor | null = FIRST_PAGE
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
export const FIRST_PAGE: PageCursor = { page: 1, token: null }

/** The query of one page of a collection, oldest entries first. */
export function pageQuery(collection: Collection, { page, token }: PageCursor): FileQuery {
  const query: FileQuery = { ...collection, page, sort: 'createdAt' }
  return token === null ? query : { ...query, pageToken: token }
}

/** Pages in a row without a new entry, after which the listing counts as endless. */
const MAX_BARREN_PAGES = 50

/** The place of a page: its token, or its number where that is null. */
export interface PageCursor {
  page: number
  token: string | null
}

/** Follows a listing page by page, and judges whether its end is proven. */
export class ListingCheck {
  readonly #service: StorageName
  readonly #ids = new Set<string>()
  readonly #tokens = new Set<string>()
  #barrenPages = 0
  #totalItems: number | null = null
  #fault: IncompleteReason | null = null

  constructor(service: StorageName) {
    this.#service = service
  }

  /** Why entries may be missing; null when none is. It is final once {@link take} names no page. */
  get fault(): IncompleteReason | null {
    if (this.#fault !== null) return this.#fault
    return this.#totalItems === null || this.#totalItems === this.#ids.size ? null : 'totals'
  }

  /**
   * Takes in a page; returns its new entries, and the next page or null. Throws `ProtocolError` for
   * a listing without an end.
   */
  take(place: PageCursor, page: FilePage): { fresh: FileEntry[]; next: PageCursor | null } {
    const fresh = page.items.filter(({ id }) => !this.#ids.has(id) && this.#ids.add(id))
    // The total falls when an entry goes: those after it move up, perhaps onto a page already read.
    if ((page.totalItems ?? Infinity) < (this.#totalItems ?? 0)) this.#fault ??= 'changed'
    this.#totalItems = page.totalItems ?? this.#totalItems
    this.#barrenPages = fresh.length > 0 ? 0 : this.#barrenPages + 1
    const next = this.#nextPlace(place, page, fresh)
    if (next !== null) this.#requireProgress(next)
    return { fresh, next }
  }

  #nextPlace(place: PageCursor, page: FilePage, fresh: readonly FileEntry[]): PageCursor | null {
    const next = { page: place.page + 1, token: page.nextToken }
    if (page.nextToken !== null) return next
    // A server that ignores `page` sends the same entries for ever.
    if (page.items.length > 0 && fresh.length === 0) {
      this.#fault ??= 'repeated'
      return null
    }
    const isByNumber = this.#tokens.size === 0
    const isShort = isByNumber && fresh.length > 0 && this.#ids.size < (this.#totalItems ?? 0)
    return page.nextPage !== null || isShort ? next : null
  }

  #requireProgress({ token }: PageCursor): void {
    if (token !== null && this.#tokens.has(token)) throw this.#endless('the service sent the same page token twice')
    if (token !== null) this.#tokens.add(token)
    if (this.#barrenPages < MAX_BARREN_PAGES) return
    throw this.#endless(`${MAX_BARREN_PAGES} pages in a row held no new entry`)
  }

  #endless(why: string): ProtocolError {
    return new ProtocolError(`The listing does not end: ${why}.`, { operation: 'list', service: this.#service })
  }
}
