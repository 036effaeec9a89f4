import type { EventRecord } from '../../../core/incoming/event.ts'
import type { EventSearch } from '../../../core/incoming/event-search.ts'
import { mentionsPath, parsePathPattern } from '../../../core/incoming/path-pattern.ts'
import { listSubjects } from '../../../core/service/subjects.ts'
import { markEvent, readEventMark } from '../../../core/store/events.ts'
import type { SearchPart, SearchSlice } from '../../../core/store/search.ts'
import { buildWhere, type Condition, likePattern } from '../../rows/build-where.ts'
import type { Connection } from '../database/connection.ts'
import { EVENT_COLUMNS, type EventRow, readEvent } from '../incoming/event-table.ts'

/** The edge of a slice: its last row. */
interface Edge {
  received_at: number
  stream: number
  seq: number
}

type Order = 'DESC' | 'ASC'

/** Searches events by content, newest first, one slice at a time. Index: event_received. */
export class EventSearcher {
  readonly #db: Connection

  constructor(db: Connection) {
    this.#db = db
  }

  async search(search: EventSearch, slice: SearchSlice): Promise<SearchPart<EventRecord>> {
    const span = describeSpan(search, slice, 'DESC')
    const edge = await this.#findEdge(span, slice.rows, 'DESC')
    const within: Condition[] =
      edge === undefined
        ? span
        : [...span, ['(received_at, seq) >= (?::bigint, ?::bigint)', edge.received_at, edge.seq]]
    const items = await this.#find(search, { within, limit: slice.limit, order: 'DESC' })
    const last = items.at(-1)
    if (items.length === slice.limit && last !== undefined) {
      // The page is full before the slice is read to its end.
      const above: Condition = ['(received_at, seq) >= (?::bigint, ?::bigint)', last.receivedAt, last.seq]
      return { items, next: markEvent(last), rows: await this.#count([...span, above]), from: last.receivedAt }
    }
    const { rows, from } = await this.#measure(within)
    const next = edge && markEvent({ receivedAt: edge.received_at, stream: edge.stream, seq: edge.seq })
    return { items, next: next ?? null, rows, from }
  }

  /** Oldest first. */
  async walk(search: EventSearch, slice: SearchSlice): Promise<SearchPart<EventRecord>> {
    const span = describeSpan(search, slice, 'ASC')
    const edge = await this.#findEdge(span, slice.rows, 'ASC')
    const within: Condition[] =
      edge === undefined
        ? span
        : [...span, ['(received_at, seq) <= (?::bigint, ?::bigint)', edge.received_at, edge.seq]]
    const items = await this.#find(search, { within, limit: slice.limit, order: 'ASC' })
    const last = items.length === slice.limit ? items.at(-1) : undefined
    const next = edge && markEvent({ receivedAt: edge.received_at, stream: edge.stream, seq: edge.seq })
    return { items, next: (last && markEvent(last)) ?? next ?? null, ...(await this.#measure(within)) }
  }

  async #findEdge(span: Condition[], rows: number, order: Order): Promise<Edge | undefined> {
    const { where, values } = buildWhere(span)
    const edge = this.#db.prepare<unknown[], Edge>(
      `SELECT received_at, stream, seq FROM event ${where}
       ORDER BY received_at ${order}, seq ${order} LIMIT 2 OFFSET ?`,
    )
    const [last, further] = await edge.all(...values, rows - 1)
    return further === undefined ? undefined : last
  }

  async #measure(within: Condition[]): Promise<{ rows: number; from: number | null }> {
    const { where, values } = buildWhere(within)
    const found = this.#db.prepare<unknown[], { rows: number; from: number | null }>(
      `SELECT count(*) AS rows, min(received_at) AS "from" FROM event ${where}`,
    )
    return (await found.get(...values)) ?? { rows: 0, from: null }
  }

  async #count(within: Condition[]): Promise<number> {
    return (await this.#measure(within)).rows
  }

  async #find(
    search: EventSearch,
    { within, limit, order }: { within: Condition[]; limit: number; order: Order },
  ): Promise<EventRecord[]> {
    const { path, subject, words = [] } = search
    const needsBody = path !== undefined || subject !== undefined || words.length > 0
    const { where, values } = buildWhere([...within, ...describeSearch(search)])
    const found = this.#db.prepare<unknown[], EventRow>(
      `SELECT ${EVENT_COLUMNS} FROM full_event ${where} ORDER BY received_at ${order}, seq ${order} LIMIT ?`,
    )
    const events = (await found.all(...values, needsBody ? null : limit)).map(readEvent)
    return needsBody ? events.filter((event) => fitsBody(event, search)).slice(0, limit) : events
  }
}

function describeSpan({ since, until }: EventSearch, { after }: SearchSlice, order: Order): Condition[] {
  const conditions: Condition[] = []
  if (since !== undefined) conditions.push(['received_at >= ?', since])
  if (until !== undefined) conditions.push(['received_at < ?', until])
  if (after === null) return conditions
  const { receivedAt, seq } = readEventMark(after)
  return [...conditions, [`(received_at, seq) ${order === 'DESC' ? '<' : '>'} (?::bigint, ?::bigint)`, receivedAt, seq]]
}

/** Conditions of the server. Bodies are compared once more by our code. */
function describeSearch({ idBeginning, type, account, path, words = [] }: EventSearch): Condition[] {
  const conditions: Condition[] = []
  if (type?.endsWith('.*')) conditions.push(['starts_with(type, ?)', type.slice(0, -1)])
  else if (type !== undefined) conditions.push(['type = ?', type])
  if (idBeginning !== undefined) conditions.push(['starts_with(id, ?)', idBeginning])
  if (account !== undefined) conditions.push(['account = ?', account])
  const texts = path === undefined ? words : [...words, parsePathPattern(path).path]
  for (const text of texts) conditions.push([`(body ILIKE ? OR ${MAY_DIFFER})`, likePattern(inJson(text))])
  return conditions
}

/** A sender may escape any character, so such a body is compared after parsing. */
const MAY_DIFFER = `strpos(body, '\\') > 0`

function fitsBody({ body }: EventRecord, { path, subject, words = [] }: EventSearch): boolean {
  if (body === '') return false
  const parsed = JSON.parse(body)
  if (subject !== undefined && !listSubjects(parsed.data).includes(subject)) return false
  const texts = [body, JSON.stringify(parsed)].map(foldCase)
  const hasWords = words.every((word) => texts.some((text) => text.includes(foldCase(inJson(word)))))
  return hasWords && (path === undefined || mentionsPath(parsed.data, parsePathPattern(path)))
}

/** ASCII letters in lower case. */
function foldCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** The text as it stands within a JSON text. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
