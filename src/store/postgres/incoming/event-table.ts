import { hash } from 'node:crypto'
import { UpshotError } from '../../../core/errors.ts'
import { Events, type OwnEvent } from '../../tables/incoming/events.ts'

/** Hexadecimal digits of a UUID. */
const UUID_DIGITS = 32

/** Numbers of a stream differ by this, so that a number names one event. See decision 63. */
export const STREAMS = 8

export function streamOf(account: string): number {
  return Number.parseInt(hash('sha256', account).slice(0, 2), 16) % STREAMS
}

export class EventTable extends Events {
  readonly streams = STREAMS
  /** Index: primary keys. */
  readonly #sql = {
    number: this.db.pluck<[number, number], number>('UPDATE stream SET seq = seq + ? WHERE id = ? RETURNING seq'),
    identify: this.db.prepare<[string, number, string]>(
      'INSERT INTO event_identity (identity, seq, body_hash) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    ),
    insert: this.db.prepare<[Omit<OwnEvent, 'body'> & { stream: number; seq: number }]>(
      `INSERT INTO event (stream, seq, id, account, type, origin, created_at, received_at)
       VALUES (@stream, @seq, @id, @account, @type, @origin, @createdAt, @receivedAt)`,
    ),
    insertBody: this.db.prepare<[number, number, string]>(
      'INSERT INTO event_body (received_at, seq, body) VALUES (?, ?, ?)',
    ),
    known: this.db.pluck<[string[]], number>(
      'SELECT seq FROM event_identity WHERE identity = ANY(?::uuid[]) ORDER BY seq',
    ),
    newest: this.db.prepare<[], { id: number; seq: number }>('SELECT id, seq FROM stream'),
  }

  /**
   * Saves an event of our own in its stream, which it locks to the end of the transaction. Null
   * when it is known.
   */
  async saveOwn({ id, type, account, createdAt, receivedAt, body, origin }: OwnEvent): Promise<number | null> {
    const stream = streamOf(account)
    const seq = await this.#sql.number.get(STREAMS, stream)
    if (seq === undefined) throw new UpshotError('internal', `The database has no row for stream ${stream}.`)
    const identity = identify(account, id)
    const bodyHash = hashBody(body)
    if ((await this.#sql.identify.run(identity, seq, bodyHash)).changes === 0) return null
    await this.#sql.insert.run({ stream, seq, id, account, type, origin, createdAt, receivedAt })
    await this.#sql.insertBody.run(receivedAt, seq, body)
    return seq
  }

  streamOf(account: string): number {
    return streamOf(account)
  }

  async newest(): Promise<Map<number, number>> {
    const rows = await this.#sql.newest.all()
    return new Map(rows.map(({ id, seq }) => [id, seq]))
  }

  protected search(eventId: string, accounts: readonly string[]): Promise<number[]> {
    return this.#sql.known.all(accounts.map((account) => identify(account, eventId)))
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
