import type { EventRecord } from '../incoming/event.ts'
import type { SearchPart, SearchSlice } from './search.ts'

/** Selects events; every part narrows. */
export interface EventFilter {
  type?: string
  /** Received at this moment or later, in epoch milliseconds. */
  since?: number
  /** Received before this moment, in epoch milliseconds. */
  until?: number
  /** Numbered below this `seq`: the last one of the page before. */
  before?: number
}

/** Selects events; every part narrows. A pruned event has neither a path nor words. */
export interface EventSearch extends Pick<EventFilter, 'since' | 'until'> {
  /** A type, or a family such as `file.*`. */
  type?: string
  account?: string
  /** As `storage_a:/in/a.pdf`, or without the storage; a `*` at the end stands for any rest. */
  path?: string
  /** Words that the body contains, each anywhere; ASCII letters in any case. */
  words?: readonly string[]
}

export interface EventWrites {
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
  /** Events with this id: one for each account that received it. */
  findEvents(id: string): Promise<EventRecord[]>
  /** The own events of runs; runs without one are left out. */
  listEventsOfRuns(runIds: readonly string[]): Promise<{ run: string; event: EventRecord }[]>
}
