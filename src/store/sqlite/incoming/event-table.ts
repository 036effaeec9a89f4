import { hash } from 'node:crypto'
import type { IncomingDelivery } from '../../../core/incoming/delivery.ts'
import type { EventOrigin, EventRecord } from '../../../core/incoming/event.ts'
import { type EventFilter, readEventMark } from '../../../core/store/events.ts'
import type { EventRange } from '../../../core/store/matches.ts'
import type { Events, OwnEvent } from '../../events.ts'
import { buildWhere, type Condition } from '../../rows/build-where.ts'
import { requireEvent } from '../../tables/runs/claim-reader.ts'
import type { SqliteConnection } from '../database/connection.ts'
import { KnownEvents, type RowCounts } from './known-events.ts'

export interface EventRow {
  seq: number
  id: string
  account: string
  type: string
  origin: EventOrigin
  created_at: number
  received_at: number
  body: string
}

/** The outcome of saving an event: a new row, or a known one with the same or another body. */
export type SavedEvent = { kind: 'new'; seq: number } | { kind: 'known'; seq: number; isSameBody: boolean }

export const EVENT_COLUMNS = 'seq, id, account, type, origin, created_at, received_at, body'

/** The only stream of a SQLite database. */
export const STREAM = 0

/** Events, each stored once per account. */
export class EventTable implements Events {
  readonly streams = 1
  /** A transaction watcher of the group commit. */
  readonly known: KnownEvents
  readonly #insert
  readonly #get
  readonly #newest
  readonly #content
  readonly #dropBody
  readonly #db: SqliteConnection
  readonly #listAfter
  readonly #listTypesAfter
  readonly #accounts
  readonly #of

  constructor(db: SqliteConnection, counts?: RowCounts) {
    this.#db = db
    this.known = new KnownEvents(db.raw, counts)
    // Index: event_identity, which refuses an event twice within its segment.
    this.#insert = db.prepare(
      `INSERT INTO event (seq, segment, identity, id, account, type, origin, created_at, received_at, body)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    // Index: primary key.
    this.#get = db.prepare<[number], EventRow>(`SELECT ${EVENT_COLUMNS} FROM event WHERE seq = ?`)
    this.#newest = db.prepare<[], number>('SELECT coalesce(max(seq), 0) FROM event').pluck()
    this.#content = db.prepare<[number], { body: string; bodyHash: Buffer | null }>(
      'SELECT body, body_hash AS bodyHash FROM event WHERE seq = ?',
    )
    this.#dropBody = db.prepare(`UPDATE event SET body = '', body_hash = ? WHERE seq = ?`)
    this.#listAfter = db.prepare<[number, number], EventRow>(
      `SELECT ${EVENT_COLUMNS} FROM event WHERE seq > ? AND seq <= ? ORDER BY seq`,
    )
    this.#listTypesAfter = db.prepare<[number, number, string], EventRow>(
      `SELECT ${EVENT_COLUMNS} FROM event WHERE seq > ? AND seq <= ?
         AND type IN (SELECT value FROM json_each(?)) ORDER BY seq`,
    )
    // Index: primary keys of owner and event.
    const columns = EVENT_COLUMNS.split(', ').map((column) => `event.${column}`)
    const listOf = (owner: 'run' | 'delivery') =>
      db.prepare<[string], EventRow & { of: string }>(
        `SELECT owner.id AS "of", ${columns.join(', ')}
         FROM json_each(?) AS given JOIN ${owner} AS owner ON owner.id = given.value
           JOIN event ON event.seq = owner.event_seq`,
      )
    this.#of = { run: listOf('run'), delivery: listOf('delivery') }
    this.#accounts = db.prepare<[], string>('SELECT name FROM event_account').pluck()
  }

  async save(
    { event, account, receivedAt, body }: Pick<IncomingDelivery, 'event' | 'account' | 'receivedAt' | 'body'>,
    origin: EventOrigin = 'webhook',
  ): Promise<SavedEvent> {
    const identity = identify(account, event.id)
    const found = this.known.find(identity)
    if (found !== null) return { kind: 'known', seq: found, isSameBody: await this.#hasBody(found, body) }
    const { seq, segment } = this.known.add(identity)
    const createdAt = Date.parse(event.created)
    await this.#insert.run(seq, segment, identity, event.id, account, event.type, origin, createdAt, receivedAt, body)
    return { kind: 'new', seq }
  }

  async saveOwn({ id, type, account, createdAt, body, origin }: OwnEvent): Promise<number | null> {
    const event = { id, type, created: new Date(createdAt).toISOString() }
    const saved = await this.save({ event, account, receivedAt: createdAt, body }, origin)
    return saved.kind === 'new' ? saved.seq : null
  }

  /** Replaces the body by its hash, so that a repeated delivery can still be compared. */
  async dropBody(seq: number): Promise<void> {
    const content = await this.#content.get(seq)
    if (content?.bodyHash === null) await this.#dropBody.run(hashBody(content.body), seq)
  }

  async #hasBody(seq: number, body: string): Promise<boolean> {
    const content = await this.#content.get(seq)
    return content?.bodyHash ? content.bodyHash.equals(hashBody(body)) : content?.body === body
  }

  async get(seq: number): Promise<EventRecord> {
    return requireEvent(await this.find(seq), seq)
  }

  async getAll(seqs: readonly number[]): Promise<Map<number, EventRecord>> {
    const found = new Map<number, EventRecord>()
    for (const seq of seqs) {
      const row = await this.#get.get(seq)
      if (row) found.set(seq, readEvent(row))
    }
    return found
  }

  /** One stream has the events of all accounts. */
  streamOf(): number {
    return STREAM
  }

  async newest(): Promise<Map<number, number>> {
    return new Map([[STREAM, (await this.#newest.get()) ?? 0]])
  }

  /** Null when there is no such event. */
  async find(seq: number): Promise<EventRecord | null> {
    const row = await this.#get.get(seq)
    return row ? readEvent(row) : null
  }

  /** Newest first. Index: primary key. */
  async list({ limit, type, since, until, before }: EventFilter & { limit: number }): Promise<EventRecord[]> {
    const conditions: Condition[] = []
    if (type !== undefined) conditions.push(['type = ?', type])
    if (since !== undefined) conditions.push(['received_at >= ?', since])
    if (until !== undefined) conditions.push(['received_at < ?', until])
    if (before !== undefined) conditions.push(['seq < ?', readEventMark(before).seq])
    const { where, values } = buildWhere(conditions)
    const list = this.#db.prepare<unknown[], EventRow>(
      `SELECT ${EVENT_COLUMNS} FROM event ${where} ORDER BY seq DESC LIMIT ?`,
    )
    return (await list.all(...values, limit)).map(readEvent)
  }

  async listOf(owner: 'run' | 'delivery', ids: readonly string[]): Promise<{ of: string; event: EventRecord }[]> {
    return (await this.#of[owner].all(JSON.stringify(ids))).map(({ of, ...row }) => ({ of, event: readEvent(row) }))
  }

  /** The event with this id in one account. */
  async findIn(account: string, eventId: string): Promise<EventRecord | null> {
    const found = this.known.search(identify(account, eventId))
    return found === null ? null : await this.get(found)
  }

  async listAfter({ stream, after, upTo, types }: EventRange): Promise<EventRecord[]> {
    if (stream !== STREAM) return []
    if (types === null) return (await this.#listAfter.all(after, upTo)).map(readEvent)
    return (await this.#listTypesAfter.all(after, upTo, JSON.stringify(types))).map(readEvent)
  }

  /** The events with this id, one per account at most. */
  async findAll(eventId: string): Promise<EventRecord[]> {
    return Array.fromAsync(await this.findSeqs(eventId), async (seq) => this.get(seq))
  }

  /** Row numbers of the events with this id, at most one per account: of all, or of one. */
  async findSeqs(eventId: string, account?: string): Promise<number[]> {
    const accounts = account === undefined ? await this.#accounts.all() : [account]
    return accounts.flatMap((name) => this.known.search(identify(name, eventId)) ?? [])
  }
}

/** The identity of an event: 16 bytes of a hash over its account and id. See decision 3. */
function identify(account: string, id: string): Buffer {
  return hash('sha256', `${account}\0${id}`, 'buffer').subarray(0, 16)
}

function hashBody(body: string): Buffer {
  return hash('sha256', body, 'buffer')
}

export function readEvent(row: EventRow): EventRecord {
  return {
    stream: STREAM,
    seq: row.seq,
    id: row.id,
    account: row.account,
    type: row.type,
    origin: row.origin,
    createdAt: row.created_at,
    receivedAt: row.received_at,
    body: row.body,
  }
}
