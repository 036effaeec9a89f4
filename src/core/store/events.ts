import { UpshotError } from '../errors.ts'
import type { EventRecord } from '../incoming/event.ts'
import type { EventSearch } from '../incoming/event-search.ts'
import type { SearchPart, SearchSlice } from './search.ts'

/** Selects events; every part narrows. */
export interface EventFilter {
  type?: string
  /** Received at this moment or later, in epoch milliseconds. */
  since?: number
  /** Received before this moment, in epoch milliseconds. */
  until?: number
  /** Older than the event with this mark: the last one of the page before. See `markEvent`. */
  before?: string
}

/** Where an event stands in the lists of `listEvents`; opaque to callers. */
export function markEvent({ receivedAt, stream, seq }: Pick<EventRecord, 'receivedAt' | 'stream' | 'seq'>): string {
  return `${receivedAt}.${stream}.${seq}`
}

/** The event of a mark. Throws `invalid_config` for any other text. */
export function readEventMark(mark: string): Pick<EventRecord, 'receivedAt' | 'stream' | 'seq'> {
  const [receivedAt, stream, seq] = mark.split('.').map(Number)
  if (Number.isSafeInteger(receivedAt) && Number.isSafeInteger(stream) && Number.isSafeInteger(seq))
    return { receivedAt, stream, seq } as Pick<EventRecord, 'receivedAt' | 'stream' | 'seq'>
  throw new UpshotError('invalid_config', `"${mark}" is no place in a list of events.`)
}

/** Subjects of events as hashes, on their way into the index of a store. */
export interface SubjectBatch {
  /** Events up to this number are indexed already, and those up to `to` are once it is saved. */
  after: number
  to: number
  /**
   * A number and a hash in turns: a list of pairs costs more to send between threads than to make.
   */
  rows: Float64Array
}

export interface EventWrites {
  /** Does nothing where another process has saved the batch. */
  saveSubjects(batch: SubjectBatch): Promise<void>
  /**
   * Starts new runs of a stored event, one for each workflow, and returns their ids. `not_found`
   * without the event, `conflict` when its body is pruned.
   */
  replayEvent(event: { id: string; account: string }, workflows: readonly string[], now: number): Promise<string[]>
}

export interface EventReads {
  /**
   * Newest first. Reads until `limit` events match, which may be every event: for a filter of a
   * person use `searchEvents`.
   */
  listEvents(query: EventFilter & { limit: number }): Promise<EventRecord[]>
  /** One slice of the events that match; `searchPage` joins slices. */
  searchEvents(search: EventSearch, slice: SearchSlice): Promise<SearchPart<EventRecord>>
  /** Like `searchEvents`, but oldest first, for work on all that match; has a `next` of its own. */
  walkEvents(search: EventSearch, slice: SearchSlice): Promise<SearchPart<EventRecord>>
  /** The subjects of up to `limit` events that are not indexed; null where all are. */
  readSubjects(limit: number): Promise<SubjectBatch | null>
  /** Events with this id: one for each account that received it. */
  findEvents(id: string): Promise<EventRecord[]>
  /** The own events of runs or deliveries with these ids; those without one are left out. */
  listEventsOf(owner: 'run' | 'delivery', ids: readonly string[]): Promise<{ of: string; event: EventRecord }[]>
}
