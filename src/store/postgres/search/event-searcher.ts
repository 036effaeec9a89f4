import type { EventRecord } from '../../../core/incoming/event.ts'
import type { EventSearch } from '../../../core/incoming/event-search.ts'
import { markEvent, readEventMark } from '../../../core/store/events.ts'
import type { SearchPart, SearchSlice } from '../../../core/store/search.ts'
import { Table } from '../../connection.ts'
import { buildWhere, type Condition } from '../../rows/build-where.ts'
import { EVENT_COLUMNS } from '../../tables/incoming/events.ts'
import { bodySearchOf, describeSearch, describeTimes, fitsBody } from '../../tables/search/event-conditions.ts'
import type { Connection } from '../database/connection.ts'

/** The edge of a slice: its last row. */
type Edge = Pick<EventRecord, 'receivedAt' | 'stream' | 'seq'>

type Order = 'DESC' | 'ASC'

/** Searches events by content, newest first, one slice at a time. Index: event_received. */
export class EventSearcher extends Table<Connection> {
  async searchEvents(search: EventSearch, slice: SearchSlice): Promise<SearchPart<EventRecord>> {
    const { span, within, edge, items } = await this.#read(search, slice, 'DESC')
    const last = items.at(-1)
    if (items.length < slice.limit || last === undefined) {
      return { items, next: edge ? markEvent(edge) : null, ...(await this.#measure(within)) }
    }
    // The page is full before the slice is read to its end.
    const { rows } = await this.#measure([...span, this.db.sql.events.at('>=', last)])
    return { items, next: markEvent(last), rows, from: last.receivedAt }
  }

  /** Oldest first. */
  async walkEvents(search: EventSearch, slice: SearchSlice): Promise<SearchPart<EventRecord>> {
    const { within, edge, items } = await this.#read(search, slice, 'ASC')
    const last = items.length === slice.limit ? items.at(-1) : edge
    return { items, next: last ? markEvent(last) : null, ...(await this.#measure(within)) }
  }

  async #read(search: EventSearch, { rows, limit, after }: SearchSlice, order: Order) {
    const { events } = this.db.sql
    const [beyond, upTo] = order === 'DESC' ? (['<', '>='] as const) : (['>', '<='] as const)
    const span = describeTimes(search)
    if (after !== null) span.push(events.at(beyond, readEventMark(after)))
    const edge = await this.#findEdge(span, rows, order)
    const within = edge === undefined ? span : [...span, events.at(upTo, edge)]
    return { span, edge, within, items: await this.#find(search, { within, limit, order }) }
  }

  async #findEdge(span: Condition[], rows: number, order: Order): Promise<Edge | undefined> {
    const { where, values } = buildWhere(span)
    const edge = this.db.prepare<unknown[], Edge>(
      `SELECT received_at, stream, seq FROM event ${where}
       ORDER BY ${this.db.sql.events.order(order)} LIMIT 2 OFFSET ?`,
    )
    const [last, further] = await edge.all(...values, rows - 1)
    return further === undefined ? undefined : last
  }

  async #measure(within: Condition[]): Promise<{ rows: number; from: number | null }> {
    const { where, values } = buildWhere(within)
    const found = this.db.prepare<unknown[], { rows: number; from: number | null }>(
      `SELECT count(*) AS rows, min(received_at) AS "from" FROM event ${where}`,
    )
    return (await found.get(...values)) ?? { rows: 0, from: null }
  }

  async #find(
    search: EventSearch,
    { within, limit, order }: { within: Condition[]; limit: number; order: Order },
  ): Promise<EventRecord[]> {
    const { sql } = this.db
    const ofBody = bodySearchOf(search)
    const { where, values } = buildWhere([...within, ...describeSearch(search, sql)])
    const found = this.db.prepare<unknown[], EventRecord>(
      `SELECT ${EVENT_COLUMNS} FROM full_event AS event ${where} ORDER BY ${sql.events.order(order)} LIMIT ?`,
    )
    const events = await found.all(...values, ofBody ? null : limit)
    return ofBody ? events.filter(({ body }) => fitsBody(body, ofBody)).slice(0, limit) : events
  }
}
