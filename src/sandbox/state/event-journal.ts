import { newId } from '../../core/ids.ts'
import { isoTime } from '../../core/time.ts'
import type { SandboxClock } from './clock.ts'
import { atomically, type Db, statement } from './database.ts'

/** An event as deliveries carry it (section 2.6). */
export interface SandboxEvent {
  /** `evt_…`, the same in every retry and resend. */
  id: string
  type: string
  /** ISO 8601. */
  created: string
  data: Record<string, unknown>
}

/** A saved event. `body` is the text that is signed and sent, the same bytes every time. */
export interface StoredEvent {
  id: string
  type: string
  createdAt: number
  /** The storage it concerns; null if none or several. */
  service: string | null
  body: string
}

const COLUMNS = 'id, type, created_at AS createdAt, service, body'

/** The events of the account. An event and its deliveries are saved in one transaction. */
export class EventJournal {
  readonly #db: Db
  readonly #clock: SandboxClock
  readonly #announce: (event: StoredEvent) => void

  /** `announce` is called inside the transaction that saves the event. */
  constructor(db: Db, clock: SandboxClock, announce: (event: StoredEvent) => void) {
    this.#db = db
    this.#clock = clock
    this.#announce = announce
  }

  /** Saves the event and a delivery for each webhook that wants it. */
  emit(type: string, data: Record<string, unknown>): SandboxEvent {
    const now = this.#clock.now()
    const event: SandboxEvent = { id: newId('evt', now), type, created: isoTime(now), data }
    const service = typeof data.service === 'string' ? data.service : null
    const stored: StoredEvent = { id: event.id, type, createdAt: now, service, body: JSON.stringify(event) }
    atomically(this.#db, () => {
      statement(
        this.#db,
        'INSERT INTO events (id, type, created_at, service, body) VALUES (@id, @type, @createdAt, @service, @body)',
      ).run(stored)
      this.#announce(stored)
    })
    return event
  }

  /** A saved event; undefined for an unknown id. */
  get(id: string): StoredEvent | undefined {
    return statement<[string], StoredEvent>(this.#db, `SELECT ${COLUMNS} FROM events WHERE id = ?`).get(id)
  }

  /** From `since` (epoch milliseconds) on, oldest first. Served by events_by_age. */
  since(since: number): StoredEvent[] {
    return statement<[number], StoredEvent>(
      this.#db,
      `SELECT ${COLUMNS} FROM events WHERE created_at >= ? ORDER BY created_at, rowid`,
    ).all(since)
  }

  /** Oldest first; `since` is in epoch milliseconds. */
  list(filter: { type?: string | undefined; since?: number | undefined } = {}): SandboxEvent[] {
    const events = this.since(filter.since ?? 0).map((event): SandboxEvent => JSON.parse(event.body))
    return filter.type === undefined ? events : events.filter((event) => event.type === filter.type)
  }
}
