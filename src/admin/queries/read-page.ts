import { type Page, type SearchPart, type SearchSlice, searchPage } from '../../core/store/search.ts'
import { isoTime } from '../../core/time.ts'
import { decodePosition, encodePosition } from './read-query.ts'

interface Asked {
  query: { limit: number; after?: string | undefined }
  signal: AbortSignal
}

/** Rows of one slice: an answer exceeds its time by one slice at most. */
const ROWS = 2_000

/** A position that slices give: an id, or a number. */
const POSITION = /^\w{1,100}$/

/**
 * One page of a search: full, complete, or as far as 250 ms reach. It ends when the asker is gone.
 */
export async function readPage<Row, Item>(
  { query, signal }: Asked,
  read: (slice: SearchSlice) => Promise<SearchPart<Row>>,
  describe: (rows: Row[]) => Promise<Item[]> | Item[],
) {
  const page = await searchPage(read, {
    limit: query.limit,
    rows: ROWS,
    after: decodePosition(query.after, POSITION) ?? null,
    mayGoOn: () => !signal.aborted,
    now: () => performance.now(),
  })
  return { ...describePage(page), items: await describe(page.items) }
}

/** `next` and `searched` of a page as the API gives them. */
export function describePage<Row>({ next, searched }: Page<Row>) {
  const { from, ms, ...rest } = searched
  return {
    next: next === null ? null : encodePosition(next),
    searched: { ...rest, from: from === null ? null : isoTime(from), ms: Math.round(ms * 10) / 10 },
  }
}
