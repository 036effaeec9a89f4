import { hash } from 'node:crypto'
import type { IncomingDelivery } from '../../../core/incoming/delivery.ts'
import type { EventOrigin } from '../../../core/incoming/event.ts'
import { Events, type OwnEvent } from '../../tables/incoming/events.ts'
import type { SqliteConnection } from '../database/connection.ts'
import { KnownEvents, type RowCounts } from './known-events.ts'

/** The outcome of saving an event: a new row, or a known one with the same or another body. */
export type SavedEvent = { kind: 'new'; seq: number } | { kind: 'known'; seq: number; isSameBody: boolean }

/** The only stream of a SQLite database. */
export const STREAM = 0

export class EventTable extends Events {
  readonly streams = 1
  /** A transaction watcher of the group commit. */
  readonly known: KnownEvents
  // Index: event_identity, which refuses an event twice within its segment.
  readonly #insert = this.db.prepare(
    `INSERT INTO event (seq, segment, identity, id, account, type, origin, created_at, received_at, body)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  // Index: primary key.
  readonly #newest = this.db.pluck<[], number>('SELECT coalesce(max(seq), 0) FROM event')
  readonly #content = this.db.prepare<[number], { body: string; bodyHash: Buffer | null }>(
    'SELECT body, body_hash FROM event WHERE seq = ?',
  )
  readonly #dropBody = this.db.prepare(`UPDATE event SET body = '', body_hash = ? WHERE seq = ?`)

  constructor(db: SqliteConnection, counts?: RowCounts) {
    super(db)
    this.known = new KnownEvents(db.raw, counts)
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

  async saveOwn({ id, type, account, createdAt, receivedAt, body, origin }: OwnEvent): Promise<number | null> {
    const event = { id, type, created: new Date(createdAt).toISOString() }
    const saved = await this.save({ event, account, receivedAt, body }, origin)
    return saved.kind === 'new' ? saved.seq : null
  }

  /** Replaces the body by its hash, so that a repeated delivery can still be compared. */
  async dropBody(seq: number): Promise<void> {
    const content = await this.#content.get(seq)
    // A body of which text was erased has the hash of before already.
    if (content && content.body !== '') await this.#dropBody.run(content.bodyHash ?? hashBody(content.body), seq)
  }

  async #hasBody(seq: number, body: string): Promise<boolean> {
    const content = await this.#content.get(seq)
    return content?.bodyHash ? content.bodyHash.equals(hashBody(body)) : content?.body === body
  }

  /** One stream has the events of all accounts. */
  streamOf(): number {
    return STREAM
  }

  async newest(): Promise<Map<number, number>> {
    return new Map([[STREAM, (await this.#newest.get()) ?? 0]])
  }

  protected async search(eventId: string, accounts: readonly string[]): Promise<number[]> {
    return accounts.flatMap((account) => this.known.search(identify(account, eventId)) ?? [])
  }
}

/** The identity of an event: 16 bytes of a hash over its account and id. See decision 3. */
function identify(account: string, id: string): Buffer {
  return hash('sha256', `${account}\0${id}`, 'buffer').subarray(0, 16)
}

function hashBody(body: string): Buffer {
  return hash('sha256', body, 'buffer')
}
