import { UpshotError } from '../../core/errors.ts'
import type { EventRecord } from '../../core/incoming/event.ts'
import { type Page, searchPage } from '../../core/store/search.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { isoTime } from '../../core/time.ts'
import { MIN_OF_ID, refuseAmbiguous, withoutEllipsis } from './resolve-id.ts'

interface Sought {
  /** The whole id, or its beginning. */
  id: string
  account: string | undefined
}

type EventReads = Pick<ReadStore, 'findEvents' | 'searchEvents'>

/** A person waits this long for the search of a beginning. */
const BUDGET_MS = 2_000
/** Events of several ids that begin alike are told apart up to this many. */
const MAX_ALIKE = 50

/**
 * The event with this id, or the only one whose id begins so. Throws `not_found`, and
 * `invalid_request` where ids or accounts share it, or where older events were not looked at.
 */
export async function findEvent(
  store: EventReads,
  { id, account }: Sought,
  /** Asked for the time in milliseconds, to bound the search. */
  now: () => number = () => performance.now(),
): Promise<EventRecord> {
  const exact = (await store.findEvents(id)).filter((event) => account === undefined || event.account === account)
  const found = exact.length > 0 ? exact : await findBeginning(store, { id, account }, now)
  const [event, ...others] = found
  if (event === undefined) throw describeMissing({ id, account })
  if (others.length === 0) return event
  const accounts = found.map((each) => each.account).join(', ')
  throw new UpshotError('invalid_request', `Several accounts have an event ${event.id}: ${accounts}.`, {
    fix: 'Name the account, too: `account`, or --account.',
  })
}

/**
 * As {@link findEvent}, but takes a beginning only with an ellipsis, which says that it is one.
 * Without it, it may be the whole id of an event that is gone.
 */
export async function findEventToActOn(store: EventReads, sought: Sought): Promise<EventRecord> {
  const event = await findEvent(store, sought)
  if (event.id === sought.id || sought.id.endsWith('…')) return event
  throw new UpshotError('invalid_request', `No event has the id ${sought.id}; only one begins with it.`, {
    fix: `Give the whole id, if you mean it: ${event.id}`,
  })
}

/**
 * The id of the only event that begins so, for a filter; `text` itself where none does. A run may
 * outlive the event that caused it.
 */
export async function findEventId(store: EventReads, text: string): Promise<string> {
  if ((await store.findEvents(text)).length > 0) return text
  const page = await searchBeginning(store, { id: text, account: undefined })
  const [event] = page?.items ?? []
  if (page === null || event === undefined) return text
  if (!page.searched.isComplete) throw describeUnsure(withoutEllipsis(text), page)
  return event.id
}

/** The events of the only id that begins so, one per account. */
async function findBeginning(store: EventReads, sought: Sought, now: () => number): Promise<EventRecord[]> {
  const page = await searchBeginning(store, sought, now)
  if (page === null) return []
  if (!page.searched.isComplete) throw describeUnsure(withoutEllipsis(sought.id), page)
  return page.items
}

/** Null for a beginning that is too short. A search in bounded slices; refuses several ids. */
async function searchBeginning(
  store: EventReads,
  { id, account }: Sought,
  now: () => number = () => performance.now(),
): Promise<Page<EventRecord> | null> {
  const beginning = withoutEllipsis(id)
  if (beginning.length < MIN_OF_ID) return null
  const search = { idBeginning: beginning, ...(account === undefined ? {} : { account }) }
  const page = await searchPage((slice) => store.searchEvents(search, slice), {
    limit: MAX_ALIKE,
    budgetMs: BUDGET_MS,
    now,
  })
  const ids = [...new Set(page.items.map((event) => event.id))]
  if (ids.length > 1) throw refuseAmbiguous(beginning, ids)
  return page
}

function describeMissing({ id, account }: Sought): UpshotError {
  const where = account === undefined ? 'here' : `of account "${account}"`
  return new UpshotError('not_found', `There is no event ${id} ${where}.`, {
    fix: 'Look at the list of events; retention may have removed it.',
  })
}

/** An older event may begin so, too. */
function describeUnsure(beginning: string, { items, searched }: Page<EventRecord>): UpshotError {
  const [event] = items
  const from = searched.from === null ? '' : `, back to ${isoTime(searched.from)}`
  const where = `among the newest ${searched.rows.toLocaleString('en')} events${from}, and no further`
  const what = event === undefined ? `No event begins with ${beginning}` : `Only one event begins with ${beginning}`
  return new UpshotError('invalid_request', `${what} ${where}.`, {
    fix: event === undefined ? 'Give its whole id.' : `Give the whole id, if you mean it: ${event.id}`,
  })
}
