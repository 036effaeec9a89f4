import { hash } from 'node:crypto'
import { UpshotError } from '../../../core/errors.ts'
import type { EventOrigin, EventRecord } from '../../../core/incoming/event.ts'
import { type EventFilter, readEventMark } from '../../../core/store/events.ts'
import type { EventRange } from '../../../core/store/matches.ts'
import type { Events, OwnEvent } from '../../events.ts'
import { buildWhere, type Condition } from '../../rows/build-where.ts'
import { requireEvent } from '../../tables/runs/claim-reader.ts'
import type { Connection } from '../database/connection.ts'

/** A row of `full_event`. */
export interface EventRow {
  stream: number
  seq: number
  id: string
  account: string
  type: string
  origin: EventOrigin
  created_at: number
  received_at: number
  body: string
}

export const EVENT_COLUMNS = 'stream, seq, id, account, type, origin, created_at, received_at, body'

/** Hexadecimal digits of a UUID. */
const UUID_DIGITS = 32

/** Numbers of a stream differ by this, so that a number names one event. See decision 63. */
export const STREAMS = 8

/** The stream of an account's events. */
export function streamOf(account: string): number {
  return Number.parseInt(hash('sha256', account).slice(0, 2), 16) % STREAMS
}

/** Events, each stored once per account. Index: primary keys, except where one is named. */
export class EventTable implements Events {
  readonly streams = STREAMS
  readonly #db: Connection
  readonly #sql

  constructor(db: Connection) {
    this.#db = db
    this.#sql = prepareEvents(db)
  }

  /**
   * Saves an event of our own in its stream, which it locks to the end of the transaction. Null
   * when it is known.
   */
  async saveOwn({ id, type, account, createdAt, body, origin }: OwnEvent): Promise<number | null> {
    const stream = streamOf(account)
    const seq = await this.#sql.number.get(STREAMS, stream)
    if (seq === undefined) throw new UpshotError('internal', `The database has no row for stream ${stream}.`)
    const identity = identify(account, id)
    const bodyHash = hashBody(body)
    if ((await this.#sql.identify.run(identity, seq, bodyHash)).changes === 0) return null
    await this.#sql.insert.run({ stream, seq, id, account, type, origin, createdAt })
    await this.#sql.insertBody.run(createdAt, seq, body)
    return seq
  }

  streamOf(account: string): number {
    return streamOf(account)
  }

  async get(seq: number): Promise<EventRecord> {
    return requireEvent(await this.find(seq), seq)
  }

  /** By number; one that is missing is left out. */
  async getAll(seqs: readonly number[]): Promise<Map<number, EventRecord>> {
    const rows = await this.#sql.getAll.all([...seqs])
    return new Map(rows.map((row) => [row.seq, readEvent(row)]))
  }

  /** Null when there is no such event. */
  async find(seq: number): Promise<EventRecord | null> {
    const row = await this.#sql.get.get(seq % STREAMS, seq)
    return row ? readEvent(row) : null
  }

  /** Newest first. Index: event_received. */
  async list({ limit, type, since, until, before }: EventFilter & { limit: number }): Promise<EventRecord[]> {
    const conditions: Condition[] = []
    if (type !== undefined) conditions.push(['type = ?', type])
    if (since !== undefined) conditions.push(['received_at >= ?', since])
    if (until !== undefined) conditions.push(['received_at < ?', until])
    if (before !== undefined) {
      const { receivedAt, seq } = readEventMark(before)
      conditions.push(['(received_at, seq) < (?::bigint, ?::bigint)', receivedAt, seq])
    }
    const { where, values } = buildWhere(conditions)
    const list = this.#db.prepare<unknown[], EventRow>(
      `SELECT ${EVENT_COLUMNS} FROM full_event ${where} ORDER BY received_at DESC, seq DESC LIMIT ?`,
    )
    return (await list.all(...values, limit)).map(readEvent)
  }

  async listOf(owner: 'run' | 'delivery', ids: readonly string[]): Promise<{ of: string; event: EventRecord }[]> {
    return (await this.#sql.of[owner].all([...ids])).map(({ of, ...row }) => ({ of, event: readEvent(row) }))
  }

  /** The event with this id in one account. */
  async findIn(account: string, eventId: string): Promise<EventRecord | null> {
    const [seq] = await this.findSeqs(eventId, account)
    return seq === undefined ? null : this.find(seq)
  }

  async listAfter({ stream, after, upTo, types }: EventRange): Promise<EventRecord[]> {
    const rows = await this.#sql.listAfter.all(stream, after, upTo, types === null ? null : [...types])
    return rows.map(readEvent)
  }

  /** The events with this id, one per account at most. */
  async findAll(eventId: string): Promise<EventRecord[]> {
    return Array.fromAsync(await this.findSeqs(eventId), (seq) => this.get(seq))
  }

  /** Numbers of the events with this id, at most one per account: of all, or of one. */
  async findSeqs(eventId: string, account?: string): Promise<number[]> {
    const accounts = account === undefined ? await this.#sql.accounts.all() : [account]
    return this.#sql.known.all(accounts.map((name) => identify(name, eventId)))
  }

  /** The newest number of each stream. */
  async newest(): Promise<Map<number, number>> {
    const rows = await this.#sql.newest.all()
    return new Map(rows.map(({ id, seq }) => [id, seq]))
  }
}

function prepareEvents(db: Connection) {
  // Index: primary keys of owner and event.
  const listOf = (owner: 'run' | 'delivery') =>
    db.prepare<[string[]], EventRow & { of: string }>(
      `SELECT owner.id AS "of", event.* FROM ${owner} AS owner JOIN full_event AS event
         ON event.seq = owner.event_seq AND event.stream = owner.event_seq % ${STREAMS}
       WHERE owner.id = ANY(?::text[])`,
    )
  return {
    number: db.prepare<[number, number], number>('UPDATE stream SET seq = seq + ? WHERE id = ? RETURNING seq').pluck(),
    identify: db.prepare<[string, number, string]>(
      'INSERT INTO event_identity (identity, seq, body_hash) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    ),
    insert: db.prepare<[Omit<OwnEvent, 'body'> & { stream: number; seq: number }]>(
      `INSERT INTO event (stream, seq, id, account, type, origin, created_at, received_at)
       VALUES (@stream, @seq, @id, @account, @type, @origin, @createdAt, @createdAt)`,
    ),
    insertBody: db.prepare<[number, number, string]>(
      'INSERT INTO event_body (received_at, seq, body) VALUES (?, ?, ?)',
    ),
    // A row by its key for each number, whatever the planner knows of the table.
    getAll: db.prepare<[number[]], EventRow>(
      `SELECT found.* FROM unnest(?::bigint[]) AS given (seq) CROSS JOIN LATERAL (
         SELECT ${EVENT_COLUMNS} FROM full_event
         WHERE full_event.stream = given.seq % ${STREAMS} AND full_event.seq = given.seq OFFSET 0) AS found`,
    ),
    get: db.prepare<[number, number], EventRow>(`SELECT ${EVENT_COLUMNS} FROM full_event WHERE stream = ? AND seq = ?`),
    listAfter: db.prepare<[number, number, number, string[] | null], EventRow>(
      `SELECT ${EVENT_COLUMNS} FROM full_event WHERE stream = ? AND seq > ? AND seq <= ?
         AND type = ANY(coalesce(?::text[], ARRAY[type])) ORDER BY seq`,
    ),
    of: { run: listOf('run'), delivery: listOf('delivery') },
    // Index: the primary key of event_identity.
    known: db
      .prepare<[string[]], number>('SELECT seq FROM event_identity WHERE identity = ANY(?::uuid[]) ORDER BY seq')
      .pluck(),
    // A row for each account that has events.
    accounts: db.prepare<[], string>('SELECT name FROM event_account').pluck(),
    newest: db.prepare<[], { id: number; seq: number }>('SELECT id, seq FROM stream'),
  }
}

/** The identity of an event: 32 digits of a hash over its account and id. See decision 3. */
export function identify(account: string, id: string): string {
  return hash('sha256', `${account}\0${id}`).slice(0, UUID_DIGITS)
}

/** The first 32 digits of a hash over the body, to compare a repeated delivery. */
export function hashBody(body: string): string {
  return hash('sha256', body).slice(0, UUID_DIGITS)
}

export function readEvent(row: EventRow): EventRecord {
  return {
    stream: row.stream,
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
