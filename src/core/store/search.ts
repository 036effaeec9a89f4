/** One bounded read of a search, newest rows first. */
export interface SearchSlice {
  rows: number
  /** Most items to return. */
  limit: number
  /** The `next` of the slice before; null at first. */
  after: string | null
}

export interface SearchPart<Item> {
  /** Newest first. */
  items: Item[]
  /** Position of the next slice; null: nothing older is left. */
  next: string | null
  rows: number
  /** Moment of the oldest row read, in epoch milliseconds; null without any. */
  from: number | null
}

/** How far a search looked. */
interface Searched {
  /** Moment of the oldest row read, in epoch milliseconds; null without any. */
  from: number | null
  rows: number
  /** True when no older row is left that could match. */
  isComplete: boolean
  ms: number
}

/** A page of a list. It may be short, and says how far it looked. */
export interface Page<Item> {
  /** Newest first. */
  items: Item[]
  /** Position of the next page, opaque; null: nothing older is left. */
  next: string | null
  searched: Searched
}

export interface SearchBounds {
  /** Most items of the page. */
  limit: number
  /** `next` of the page before. */
  after?: string | null
  /** After this many milliseconds no further slice begins. Default 250. */
  budgetMs?: number
  /** Rows of a slice. Default 5,000, which takes a few milliseconds. */
  rows?: number
  /** Asked before each slice but the first; false ends the search. */
  mayGoOn?: () => boolean
  /** Epoch milliseconds. */
  now: () => number
}

/** The items of a whole search, in slices: no read spans two of them. */
export async function* searchSlices<Item>(
  read: (slice: SearchSlice) => Promise<SearchPart<Item>>,
  { rows, limit }: Pick<SearchSlice, 'rows' | 'limit'>,
): AsyncGenerator<Item[]> {
  for (let after: string | null = null; ; ) {
    const { items, next }: SearchPart<Item> = await read({ rows, limit, after })
    yield items
    if (next === null) return
    after = next
  }
}

/**
 * Reads slices until the page is full, nothing is left or the budget is spent. No read spans two
 * slices, so a long search never keeps the log from being copied.
 */
export async function searchPage<Item>(
  read: (slice: SearchSlice) => Promise<SearchPart<Item>>,
  { limit, after = null, budgetMs = 250, rows = 5_000, mayGoOn = () => true, now }: SearchBounds,
): Promise<Page<Item>> {
  const startedAt = now()
  const items: Item[] = []
  const searched = { from: null as number | null, rows: 0 }
  let next = after
  do {
    const part = await read({ rows, limit: limit - items.length, after: next })
    items.push(...part.items)
    searched.from = part.from ?? searched.from
    searched.rows += part.rows
    next = part.next
  } while (next !== null && items.length < limit && now() - startedAt < budgetMs && mayGoOn())
  return { items, next, searched: { ...searched, isComplete: next === null, ms: now() - startedAt } }
}
