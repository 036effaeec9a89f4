import type { FileEntry } from '../../../core/service/file.ts'
import type { IncompleteReason } from '../../../core/service/files-api.ts'
import type { StorageName } from '../../../core/service/storage.ts'
import { ProtocolError } from '../../errors.ts'
import type { FilePage } from './list-page.ts'

/** Pages in a row without a new entry, after which the listing counts as endless. */
const MAX_BARREN_PAGES = 50

/** The place of a page: its token, or its number where that is null. */
export interface PagePlace {
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
  take(place: PagePlace, page: FilePage): { fresh: FileEntry[]; next: PagePlace | null } {
    const fresh = page.items.filter(({ id }) => !this.#ids.has(id) && this.#ids.add(id))
    // The total falls when an entry goes: those after it move up, perhaps onto a page already read.
    if ((page.totalItems ?? Infinity) < (this.#totalItems ?? 0)) this.#fault ??= 'changed'
    this.#totalItems = page.totalItems ?? this.#totalItems
    this.#barrenPages = fresh.length > 0 ? 0 : this.#barrenPages + 1
    const next = this.#nextPlace(place, page, fresh)
    if (next !== null) this.#requireProgress(next)
    return { fresh, next }
  }

  #nextPlace(place: PagePlace, page: FilePage, fresh: readonly FileEntry[]): PagePlace | null {
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

  #requireProgress({ token }: PagePlace): void {
    if (token !== null && this.#tokens.has(token)) throw this.#endless('the service sent the same page token twice')
    if (token !== null) this.#tokens.add(token)
    if (this.#barrenPages < MAX_BARREN_PAGES) return
    throw this.#endless(`${MAX_BARREN_PAGES} pages in a row held no new entry`)
  }

  #endless(why: string): ProtocolError {
    return new ProtocolError(`The listing does not end: ${why}.`, { operation: 'list', service: this.#service })
  }
}
