import { UpshotError } from '../../../core/errors.ts'
import type { EventOrigin, EventRecord } from '../../../core/incoming/event.ts'
import { type EventRange, readEventMark } from '../../../core/store/events.ts'
import { type Connection, Table } from '../../connection.ts'
import { buildWhere, given } from '../../rows/build-where.ts'

/** Selects events; every part narrows. */
interface EventFilter {
  type?: string
  /** Received at this moment or later, in epoch milliseconds. */
  since?: number
  /** Received before this moment, in epoch milliseconds. */
  until?: number
  /** Older than the event with this mark: the last one of the page before. See `markEvent`. */
  before?: string
}

/** An event that does not come by a delivery. Moments are epoch milliseconds. */
export interface OwnEvent {
  id: string
  type: string
  account: string
  createdAt: number
  /** When it is stored. */
  receivedAt: number
  body: string
  origin: EventOrigin
}

/** The columns of an `EventRecord`, of `full_event AS event`. */
export const EVENT_COLUMNS = `event.stream, event.seq, event.id, event.account, event.type, event.origin,
  event.created_at, event.received_at, event.body`

/** The stored events, each once per account. Index: primary keys, except where one is named. */
export abstract class Events extends Table {
  /** How many streams there are; numbers of two events of one stream differ by a multiple of it. */
  abstract readonly streams: number
  readonly #sql = prepareReads(this.db)

  /** Saves an event of our own. Null when it is known. */
  abstract saveOwn(event: OwnEvent): Promise<number | null>
  /** The stream of an account's events. Numbers rise within a stream. */
  abstract streamOf(account: string): number
  /** Numbers of the events with this id, at most one per account. */
  protected abstract search(eventId: string, accounts: readonly string[]): Promise<number[]>
  /** The newest number of each stream. */
  abstract newest(): Promise<Map<number, number>>

  async get(seq: number): Promise<EventRecord> {
    const found = await this.find(seq)
    if (!found) throw describeMissing(seq)
    return found
  }

  /** Null when there is no such event. */
  async find(seq: number): Promise<EventRecord | null> {
    return (await this.#sql.get.get({ seq })) ?? null
  }

  /**
   * Newest first. Reads until `limit` events match, which may be every event: for a filter of a
   * person use `searchEvents`.
   */
  async listEvents({ limit, type, since, until, before }: EventFilter & { limit: number }): Promise<EventRecord[]> {
    const { events } = this.db.sql
    const conditions = given({ 'type = ?': type, 'received_at >= ?': since, 'received_at < ?': until })
    if (before !== undefined) conditions.push(events.at('<', readEventMark(before)))
    const { where, values } = buildWhere(conditions)
    const list = this.db.prepare<unknown[], EventRecord>(
      `SELECT ${EVENT_COLUMNS} FROM full_event AS event ${where} ORDER BY ${events.order('DESC')} LIMIT ?`,
    )
    return list.all(...values, limit)
  }

  /** The own events of runs or deliveries with these ids; those without one are left out. */
  async listEventsOf(owner: 'run' | 'delivery', ids: readonly string[]): Promise<{ of: string; event: EventRecord }[]> {
    return (await this.#sql.of[owner].all([...ids])).map(({ of, ...event }) => ({ of, event }))
  }

  /** Events of a stream in order. */
  async listEventsAfter({ stream, after, upTo, types }: EventRange): Promise<EventRecord[]> {
    if (types === null) return this.#sql.listAfter.all(stream, after, upTo)
    return this.#sql.listTypesAfter.all(stream, after, upTo, [...types])
  }

  async findIn(account: string, eventId: string): Promise<EventRecord | null> {
    const [seq] = await this.search(eventId, [account])
    return seq === undefined ? null : this.get(seq)
  }

  /** Events with this id: one for each account that received it. */
  async findEvents(eventId: string): Promise<EventRecord[]> {
    return Array.fromAsync(await this.findSeqs(eventId), (seq) => this.get(seq))
  }

  /** Numbers of the events with this id, at most one per account: of all, or of one. */
  async findSeqs(eventId: string, account?: string): Promise<number[]> {
    return this.search(eventId, account === undefined ? await this.#sql.accounts.all() : [account])
  }
}

/** The fault of an event that a run was made for, and that is gone. */
export function describeMissing(seq: number): UpshotError {
  return new UpshotError('internal', `Event number ${seq} of a run is missing from the database.`)
}

function prepareReads(db: Connection) {
  const select = `SELECT ${EVENT_COLUMNS} FROM full_event AS event`
  const listOf = (owner: 'run' | 'delivery') =>
    db.prepare<[string[]], EventRecord & { of: string }>(
      `SELECT owner.id AS "of", ${EVENT_COLUMNS} FROM ${owner} AS owner
         JOIN full_event AS event ON ${db.sql.isEvent('owner.event_seq')}
       WHERE ${db.sql.isOneOf('owner.id', 'text')}`,
    )
  const after = `${select} WHERE stream = ? AND seq > ? AND seq <= ?`
  return {
    get: db.prepare<{ seq: number }, EventRecord>(`${select} WHERE ${db.sql.isEvent('@seq')}`),
    of: { run: listOf('run'), delivery: listOf('delivery') },
    listAfter: db.prepare<[number, number, number], EventRecord>(`${after} ORDER BY seq`),
    listTypesAfter: db.prepare<[number, number, number, string[]], EventRecord>(
      `${after} AND ${db.sql.isOneOf('type', 'text')} ORDER BY seq`,
    ),
    // A row for each account that has events.
    accounts: db.pluck<[], string>('SELECT name FROM event_account'),
  }
}
