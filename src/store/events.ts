import type { EventOrigin, EventRecord } from '../core/incoming/event.ts'

/** An event that does not come by a delivery. `createdAt`: epoch milliseconds. */
export interface OwnEvent {
  id: string
  type: string
  account: string
  createdAt: number
  body: string
  origin: EventOrigin
}

/** The stored events, as the tables about runs and approvals see them. */
export interface Events {
  /** How many streams there are; numbers of two events of one stream differ by a multiple of it. */
  readonly streams: number
  /** Saves an event of our own. Null when it is known. */
  saveOwn(event: OwnEvent): Promise<number | null>
  /** The stream of an account's events. Numbers rise within a stream. */
  streamOf(account: string): number
  get(seq: number): Promise<EventRecord>
  /** Null when there is no such event. */
  find(seq: number): Promise<EventRecord | null>
  /** By number; one that is missing is left out. */
  getAll(seqs: readonly number[]): Promise<Map<number, EventRecord>>
  /** The event with this id in one account. */
  findIn(account: string, eventId: string): Promise<EventRecord | null>
  /** Numbers of the events with this id, at most one per account: of all, or of one. */
  findSeqs(eventId: string, account?: string): Promise<number[]>
  /** The newest number of each stream. */
  newest(): Promise<Map<number, number>>
}
