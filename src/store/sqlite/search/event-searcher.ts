import type { EventRecord } from '../../../core/incoming/event.ts'
import { type EventSearch, parsePathPattern } from '../../../core/incoming/event-search.ts'
import type { SearchPart, SearchSlice } from '../../../core/store/search.ts'
import { Table } from '../../connection.ts'
import { buildWhere, type Condition } from '../../rows/build-where.ts'
import { EVENT_COLUMNS } from '../../tables/incoming/events.ts'
import { bodySearchOf, describeSearch, describeTimes, fitsBody } from '../../tables/search/event-conditions.ts'
import type { SqliteConnection } from '../database/connection.ts'
import { SubjectIndex } from './subject-index.ts'

/**
 * Our clock may have been set back by this much, and events are numbered by arrival. So a search in
 * time looks this far beyond its bounds.
 */
const CLOCK_SLACK_MS = 3_600_000

/** The numbers of one slice: from `top` down to `bottom`, both included. */
interface Span {
  top: number
  bottom: number
  /** The lowest number of the whole search. */
  oldest: number
  isLast: boolean
}

/** Searches events by content, newest first, one slice of numbers at a time. */
export class EventSearcher extends Table<SqliteConnection> {
  readonly subjects: SubjectIndex = new SubjectIndex(this.db)
  // Index: primary key, for all of these.
  readonly #at = this.db.prepare<[number], { seq: number; receivedAt: number }>(
    'SELECT seq, received_at FROM event WHERE seq <= ? ORDER BY seq DESC LIMIT 1',
  )
  readonly #newest = this.db.pluck<[], number | null>('SELECT max(seq) FROM event')
  readonly #oldest = this.db.pluck<[], number | null>('SELECT min(seq) FROM event')

  constructor(db: SqliteConnection) {
    super(db)
    db.raw.function('fits_body', { deterministic: true }, (body, search) =>
      Number(fitsBody(String(body), JSON.parse(String(search)))),
    )
  }

  async searchEvents(search: EventSearch, slice: SearchSlice): Promise<SearchPart<EventRecord>> {
    const span = await this.#findSpan(search, slice)
    if (span === null) return { items: [], next: null, rows: 0, from: null }
    const subject = subjectOf(search)
    return subject === null
      ? await this.#read(search, span, slice)
      : await this.#readIndexed(search, { subject, span, slice })
  }

  /** Oldest first, by numbers alone. */
  async walkEvents(search: EventSearch, { rows, limit, after }: SearchSlice): Promise<SearchPart<EventRecord>> {
    const whole = await this.#findSpan(search, { rows: Infinity, limit, after: null })
    const bottom = Math.max(whole?.bottom ?? 0, after === null ? 0 : Number(after) + 1)
    if (whole === null || bottom > whole.top) return { items: [], next: null, rows: 0, from: null }
    const top = Math.min(whole.top, bottom + rows - 1)
    const items = await this.#find(search, ['seq BETWEEN ? AND ?', bottom, top], limit, 'ASC')
    const reached = items.length === limit ? (items.at(-1)?.seq ?? top) : top
    const from = (await this.#at.get(bottom))?.receivedAt ?? null
    return { items, next: reached === whole.top ? null : String(reached), rows: reached - bottom + 1, from }
  }

  async #read(search: EventSearch, span: Span, slice: SearchSlice): Promise<SearchPart<EventRecord>> {
    const within: Condition = ['seq BETWEEN ? AND ?', span.bottom, span.top]
    const items = await this.#find(search, within, slice.limit)
    const last = items.at(-1)
    if (items.length < slice.limit || last === undefined) return this.#end(span, items)
    // The page is full before the slice is read to its end.
    return { items, next: String(last.seq), rows: span.top - last.seq + 1, from: last.receivedAt }
  }

  /** Events that are not indexed yet are read one by one, and the others along the index. */
  async #readIndexed(
    search: EventSearch,
    { subject, span, slice }: { subject: string; span: Span; slice: SearchSlice },
  ): Promise<SearchPart<EventRecord>> {
    const indexedTo = await this.subjects.indexedTo()
    if (span.top > indexedTo) {
      const bottom = Math.max(span.bottom, indexedTo + 1)
      return this.#read(search, { ...span, bottom, isLast: span.isLast && bottom === span.bottom }, slice)
    }
    const { top, oldest: bottom } = span
    const { found, reached } = await this.subjects.find(subject, { top, bottom, limit: slice.limit })
    const items = await this.#find(search, [this.db.sql.isOneOf('seq', 'bigint'), found], slice.limit)
    const last = items.at(-1)
    if (items.length === slice.limit && last) {
      return { items, next: String(last.seq), rows: found.length, from: last.receivedAt }
    }
    return this.#end({ ...span, bottom: reached, isLast: reached === bottom }, items, found.length)
  }

  async #find(
    search: EventSearch,
    within: Condition,
    limit: number,
    order: 'ASC' | 'DESC' = 'DESC',
  ): Promise<EventRecord[]> {
    const { sql } = this.db
    const conditions = [within, ...describeTimes(search), ...describeSearch(search, sql)]
    const ofBody = bodySearchOf(search)
    if (ofBody) conditions.push(['fits_body(body, ?)', JSON.stringify(ofBody)])
    const { where, values } = buildWhere(conditions)
    const found = this.db.prepare<unknown[], EventRecord>(
      `SELECT ${EVENT_COLUMNS} FROM full_event AS event ${where} ORDER BY ${sql.events.order(order)} LIMIT ?`,
    )
    return found.all(...values, limit)
  }

  async #end(span: Span, items: EventRecord[], rows = span.top - span.bottom + 1): Promise<SearchPart<EventRecord>> {
    const from = (await this.#at.get(span.bottom))?.receivedAt ?? null
    return { items, next: span.isLast ? null : String(span.bottom), rows, from }
  }

  /** Null where nothing is left. Numbers have gaps, so a slice may hold fewer rows. */
  async #findSpan({ since, until }: EventSearch, { rows, after }: SearchSlice): Promise<Span | null> {
    const newest = (await this.#newest.get()) ?? null
    const oldest = (await this.#oldest.get()) ?? null
    if (newest === null || oldest === null) return null
    const start = until === undefined ? newest : await this.#lastBefore(until + CLOCK_SLACK_MS, oldest, newest)
    const top = after === null ? start : Math.min(start, Number(after) - 1)
    const end = since === undefined ? oldest : (await this.#lastBefore(since - CLOCK_SLACK_MS, oldest, newest)) + 1
    if (top < end) return null
    const bottom = Math.max(end, top - rows + 1)
    return { top, bottom, oldest: end, isLast: bottom === end }
  }

  /** The last event received before a moment, by bisection; below `oldest` without one. */
  async #lastBefore(moment: number, oldest: number, newest: number): Promise<number> {
    let low = oldest - 1
    let high = newest
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      const event = await this.#at.get(middle)
      if (event === undefined || event.receivedAt < moment) low = middle
      else high = Math.min(event.seq, middle) - 1
    }
    return Math.max(low, oldest - 1)
  }
}

/** The one subject that every event of a search tells of; null where the index does not help. */
function subjectOf({ subject, path }: EventSearch): string | null {
  if (subject !== undefined) return subject
  if (path === undefined) return null
  const pattern = parsePathPattern(path)
  if (pattern.isPrefix || !pattern.path.startsWith('/')) return null
  return pattern.service === null ? pattern.path : `${pattern.service}:${pattern.path}`
}
