import { type Page, type SearchPart, type SearchSlice, searchPage } from '../../core/store/search.ts'
import { isoTime } from '../../core/time.ts'
import type { Output } from '../terminal/output.ts'
import { commandClock } from './command-clock.ts'

/** A person waits this long for a search; the answer then says how far it looked. */
const BUDGET_MS = 2_000

/** Reads a page of a list, and ends after {@link BUDGET_MS}. */
export async function readPage<Item>(
  read: (slice: SearchSlice) => Promise<SearchPart<Item>>,
  limit: number,
  now: () => number = () => commandClock.now(),
): Promise<Page<Item>> {
  return searchPage(read, { limit, budgetMs: BUDGET_MS, now })
}

/** `searched` of a page for JSON, with its moment as text. */
export function describeSearched({ searched }: Pick<Page<unknown>, 'searched'>): Record<string, unknown> {
  return { searched: { ...searched, from: searched.from === null ? null : isoTime(searched.from) } }
}

/** Says how far an unfinished search looked, and how to go on. Nothing for a full page. */
export function noteSearched(out: Output, { items, searched }: Page<unknown>, { limit, what }: NotedSearch): void {
  if (searched.isComplete || searched.from === null || items.length >= limit) return
  // The last millisecond is looked at again: it may hold more rows.
  const until = isoTime(searched.from + 1)
  const rows = searched.rows.toLocaleString('en')
  const where = `Looked at the newest ${rows} ${what}, back to ${isoTime(searched.from)}`
  out.note(`${where}, and stopped after ${BUDGET_MS / 1_000} s. Look further back with --until ${until}`)
}

interface NotedSearch {
  limit: number
  /** The rows that were read, such as `runs`. */
  what: string
}
