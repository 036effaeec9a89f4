import { EventEmitter } from 'node:events'
import { newId } from '../../core/ids.ts'
import { isoTime } from '../../core/time.ts'
import type { SandboxClock } from '../state/clock.ts'
import { atomically, type Db, statement } from '../state/database.ts'
import type { StoredEvent } from '../state/event-journal.ts'
import { notFound } from '../state/not-found.ts'
import type { Attempt, Delivery, DeliveryCause, DeliveryFilter, DeliveryState, DueDelivery } from './delivery.ts'
import type { Webhook } from './webhooks.ts'

interface ClaimedRow {
  id: string
  webhookId: string
  eventId: string
  attempts: number
  diverted: number
}

interface DeliveryRow extends Omit<Delivery, 'nextAttemptAt' | 'createdAt' | 'attempts'> {
  dueAt: number | null
  createdAt: number
}

/** Saved deliveries, their attempts, and when they are due. */
export class DeliveryLog {
  readonly #db: Db
  readonly #clock: SandboxClock
  /** `change` follows every new or changed delivery; `queued` every new due time but a retry's. */
  readonly changes = new EventEmitter<{ change: []; queued: [] }>()

  constructor(db: Db, clock: SandboxClock) {
    this.#db = db
    this.#clock = clock
    this.changes.setMaxListeners(0)
  }

  /** Makes deliveries due again whose sending a crash cut off. They may have arrived. */
  recover(): void {
    statement(this.#db, "UPDATE deliveries SET state = 'pending' WHERE state = 'sending'").run()
  }

  /** Queues an event for a webhook, due now. Returns the delivery's id. */
  queue(event: StoredEvent, webhook: Webhook, cause: DeliveryCause): string {
    const now = this.#clock.now()
    const id = newId('dlv', now)
    statement(
      this.#db,
      `INSERT INTO deliveries (id, event_id, webhook_id, url, cause, diverted, state, due_at, created_at)
         VALUES (?, ?, ?, ?, ?, ?, 'pending', ?, ?)`,
    ).run(id, event.id, webhook.id, webhook.url, cause, cause === 'duplicate' ? 1 : 0, now, now)
    this.changes.emit('change')
    this.changes.emit('queued')
    return id
  }

  /** Sets up to `limit` due deliveries, oldest first, to `sending`. Served by deliveries_due. */
  claim(limit: number): DueDelivery[] {
    if (limit <= 0) return []
    const rows = statement<[number, number], ClaimedRow>(
      this.#db,
      `UPDATE deliveries SET state = 'sending' WHERE id IN
           (SELECT id FROM deliveries WHERE state = 'pending' AND due_at <= ? ORDER BY due_at, rowid LIMIT ?)
         RETURNING id, webhook_id AS webhookId, attempts, event_id AS eventId, diverted`,
    ).all(this.#clock.now(), limit)
    const event = statement<[string], StoredEvent>(
      this.#db,
      'SELECT id, type, created_at AS createdAt, service, body FROM events WHERE id = ?',
    )
    return rows.map((row) => ({
      id: row.id,
      webhookId: row.webhookId,
      attempt: row.attempts + 1,
      isDiverted: row.diverted === 1,
      event: event.get(row.eventId) ?? notFound('event', row.eventId),
    }))
  }

  /** The next due time, or null. Served by deliveries_due. */
  nextDueAt(): number | null {
    const sql = "SELECT min(due_at) FROM deliveries WHERE state = 'pending'"
    return statement<[], number | null>(this.#db, sql).pluck().get() ?? null
  }

  /** Saves an attempt and the next state. `retryAt` is null if there is no retry. */
  settle(id: string, attempt: Attempt, next: { state: DeliveryState; retryAt: number | null }): void {
    atomically(this.#db, () => {
      statement(
        this.#db,
        'INSERT INTO attempts (delivery_id, number, at, duration_ms, status, error) VALUES (?, ?, ?, ?, ?, ?)',
      ).run(id, attempt.number, Date.parse(attempt.at), attempt.durationMs, attempt.status, attempt.error)
      statement(this.#db, 'UPDATE deliveries SET state = ?, due_at = ?, attempts = ? WHERE id = ?').run(
        next.state,
        next.retryAt,
        attempt.number,
        id,
      )
    })
    this.changes.emit('change')
  }

  /** Postpones a delivery without counting an attempt. */
  postpone(id: string, dueAt: number): void {
    statement(
      this.#db,
      `UPDATE deliveries SET state = 'pending', diverted = 1, due_at = ?
         WHERE id = ? AND state IN ('sending', 'pending')`,
    ).run(dueAt, id)
    this.changes.emit('queued')
  }

  /** Oldest first; with `limit`, only the newest. */
  list(filter: DeliveryFilter = {}, limit = -1): Delivery[] {
    const sql = `SELECT d.id, d.event_id AS eventId, e.type, d.webhook_id AS webhookId, d.url, d.cause, d.state,
        d.due_at AS dueAt, d.created_at AS createdAt
      FROM deliveries d JOIN events e ON e.id = d.event_id WHERE ${MATCHES} ORDER BY d.rowid DESC LIMIT @limit`
    const rows = statement<[object], DeliveryRow>(this.#db, sql).all({ ...parametersOf(filter), limit })
    return rows.reverse().map((row) => this.#withAttempts(row))
  }

  count(filter: DeliveryFilter = {}): number {
    const sql = `SELECT count(*) FROM deliveries d JOIN events e ON e.id = d.event_id WHERE ${MATCHES}`
    return Number(statement<[object], number>(this.#db, sql).pluck().get(parametersOf(filter)))
  }

  /**
   * Resolves once `count` deliveries (default 1) match. Rejects after `timeoutMs` of real time
   * (default 10 s).
   */
  async until(filter: DeliveryFilter & { count?: number; timeoutMs?: number }): Promise<Delivery[]> {
    const { count = 1, timeoutMs = 10_000, ...wanted } = filter
    const timeout = AbortSignal.timeout(timeoutMs)
    for (;;) {
      const found = this.count(wanted)
      if (found >= count) return this.list(wanted)
      if (timeout.aborted) throw new Error(this.#describeWait(wanted, count, found, timeoutMs))
      // A change concerns one delivery, so fewer changes cannot suffice, and counting costs a
      // query.
      await nextChanges(this.changes, count - found, timeout)
    }
  }

  #describeWait(wanted: DeliveryFilter, count: number, found: number, timeoutMs: number): string {
    const newest = this.list({}, 20).map(
      ({ type, state, attempts }) => `${type} ${state} (attempts: ${attempts.length})`,
    )
    const log = newest.join(', ') || 'none'
    const asked = JSON.stringify(wanted)
    return `${found} of ${count} deliveries match ${asked} after ${timeoutMs} ms. The newest deliveries: ${log}`
  }

  #withAttempts({ dueAt, createdAt, ...row }: DeliveryRow): Delivery {
    const attempts = statement<[string], Omit<Attempt, 'at'> & { at: number }>(
      this.#db,
      'SELECT number, at, duration_ms AS durationMs, status, error FROM attempts WHERE delivery_id = ? ORDER BY number',
    ).all(row.id)
    return {
      ...row,
      nextAttemptAt: dueAt === null ? null : isoTime(dueAt),
      createdAt: isoTime(createdAt),
      attempts: attempts.map((attempt) => ({ ...attempt, at: isoTime(attempt.at) })),
    }
  }
}

const MATCHES = `(@eventId IS NULL OR d.event_id = @eventId) AND (@webhookId IS NULL OR d.webhook_id = @webhookId)
  AND (@type IS NULL OR e.type = @type) AND (@state IS NULL OR d.state = @state)`

function parametersOf({ eventId, webhookId, type, state }: DeliveryFilter): Record<string, string | null> {
  return { eventId: eventId ?? null, webhookId: webhookId ?? null, type: type ?? null, state: state ?? null }
}

/** Resolves after `many` changes or at the timeout. */
function nextChanges(changes: DeliveryLog['changes'], many: number, timeout: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let left = many
    const done = () => {
      changes.off('change', countDown)
      timeout.removeEventListener('abort', done)
      resolve()
    }
    const countDown = () => {
      left--
      if (left <= 0) done()
    }
    changes.on('change', countDown)
    timeout.addEventListener('abort', done)
  })
}
