import { UpshotError } from '../../core/errors.ts'
import { type Page, type SearchPart, type SearchSlice, searchPage } from '../../core/store/search.ts'
import { isoTime } from '../../core/time.ts'

interface Asked {
  query: { limit: number; after?: string | undefined }
  signal: AbortSignal
  /** The positions that the slices of this list give. */
  position: RegExp
}

/** Rows of one slice: an answer exceeds its time by one slice at most. */
const ROWS = 2_000

/** A position among events: a number in SQLite, and moment, stream and number in PostgreSQL. */
export const EVENT_POSITION = /^\d{1,16}(\.\d{1,16}){0,2}$/

/**
 * One page of a search: full, complete, or as far as 250 ms reach. It ends when the asker is gone.
 */
export async function readPage<Row, Item>(
  { query, signal, position }: Asked,
  read: (slice: SearchSlice) => Promise<SearchPart<Row>>,
  describe: (rows: Row[]) => Promise<Item[]> | Item[],
) {
  const page = await searchPage(read, {
    limit: query.limit,
    rows: ROWS,
    after: decodePosition(query.after, position) ?? null,
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

export function encodePosition(position: string): string {
  return Buffer.from(position).toString('base64url')
}

/** Throws `invalid_request` for a position that no list gave. */
export function decodePosition(after: string | undefined, looksLike: RegExp): string | undefined {
  if (after === undefined) return undefined
  const position = Buffer.from(after, 'base64url').toString()
  if (looksLike.test(position)) return position
  throw new UpshotError('invalid_request', '`after` is not the `next` of a page of this list.', {
    details: { faults: [{ at: 'after', fault: 'is not the `next` of a page' }] },
  })
}

/** A page of a list that reads no more rows than it returns. */
export function wholePage<Item, Row extends { id: string }>(
  rows: readonly Row[],
  { limit, items, momentOf }: { limit: number; items: Item[]; momentOf: (row: Row) => number },
) {
  const last = rows.at(-1)
  const isMore = rows.length === limit && last !== undefined
  return {
    items,
    next: isMore ? encodePosition(last.id) : null,
    searched: {
      from: last === undefined ? null : isoTime(momentOf(last)),
      rows: rows.length,
      isComplete: !isMore,
      ms: 0,
    },
  }
}
