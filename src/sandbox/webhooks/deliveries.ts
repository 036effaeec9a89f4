import type { EventJournal } from '../state/event-journal.ts'
import { notFound } from '../state/not-found.ts'
import type { Delivery, DeliveryFilter } from './delivery.ts'
import type { DeliveryLog } from './delivery-log.ts'
import type { Webhooks } from './webhooks.ts'

/** The delivery log for the account's owner. */
export class Deliveries {
  readonly #log: DeliveryLog
  readonly #events: EventJournal
  readonly #webhooks: Webhooks

  constructor(parts: { log: DeliveryLog; events: EventJournal; webhooks: Webhooks }) {
    this.#log = parts.log
    this.#events = parts.events
    this.#webhooks = parts.webhooks
  }

  /** Oldest first, with all attempts. */
  list(filter: DeliveryFilter = {}): Delivery[] {
    return this.#log.list(filter)
  }

  /** The newest `limit` deliveries, oldest first. */
  newest(limit: number, filter: DeliveryFilter = {}): Delivery[] {
    return this.#log.list(filter, limit)
  }

  /** Number of matching deliveries. */
  count(filter: DeliveryFilter = {}): number {
    return this.#log.count(filter)
  }

  /**
   * Resolves once `count` deliveries (default 1) match. Rejects after `timeoutMs` of real time
   * (default 10 s).
   */
  until(filter: DeliveryFilter & { count?: number; timeoutMs?: number }): Promise<Delivery[]> {
    return this.#log.until(filter)
  }

  /**
   * Delivers an event again to every webhook that wants it: same id and body, new signature. Throws
   * `not_found`.
   */
  async resend(eventId: string): Promise<Delivery[]> {
    const event = this.#events.get(eventId) ?? notFound('event', eventId)
    const ids = this.#webhooks.wanting(event).map((webhook) => this.#log.queue(event, webhook, 'resend'))
    return this.#log.list({ eventId }).filter(({ id }) => ids.includes(id))
  }

  /**
   * Delivers to a webhook every event since a time (epoch milliseconds) that did not reach it.
   * Throws `not_found`.
   */
  async backfill(webhookId: string, since: number): Promise<{ queued: number }> {
    const webhook = this.#webhooks.find(webhookId) ?? notFound('webhook', webhookId)
    const covered = new Set(
      this.#log.list({ webhookId }).flatMap(({ state, eventId }) => (state === 'failed' ? [] : [eventId])),
    )
    const missed = this.#events
      .since(since)
      .filter((event) => !covered.has(event.id) && this.#webhooks.wants(webhook, event))
    for (const event of missed) this.#log.queue(event, webhook, 'backfill')
    return { queued: missed.length }
  }
}
