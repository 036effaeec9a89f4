import type { EventJournal } from '../state/event-journal.ts'
import { notFound } from '../state/not-found.ts'
import type { Delivery, DeliveryFilter } from './delivery.ts'
import type { DeliveryLog } from './delivery-log.ts'
import type { Webhooks } from './webhooks.ts'

/** The account's delivery log as its owner uses it: look, wait, send again. */
export class Deliveries {
  readonly #log: DeliveryLog
  readonly #events: EventJournal
  readonly #webhooks: Webhooks

  constructor(parts: { log: DeliveryLog; events: EventJournal; webhooks: Webhooks }) {
    this.#log = parts.log
    this.#events = parts.events
    this.#webhooks = parts.webhooks
  }

  /** Oldest first, each with every attempt. */
  list(filter: DeliveryFilter = {}): Delivery[] {
    return this.#log.list(filter)
  }

  /** The newest `most`, oldest of them first. */
  newest(most: number, filter: DeliveryFilter = {}): Delivery[] {
    return this.#log.list(filter, most)
  }

  count(filter: DeliveryFilter = {}): number {
    return this.#log.count(filter)
  }

  /**
   * Resolves as soon as `count` (default 1) deliveries match. Rejects after `timeoutMs` (default 10
   * s) of real time.
   */
  until(filter: DeliveryFilter & { count?: number; timeoutMs?: number }): Promise<Delivery[]> {
    return this.#log.until(filter)
  }

  /**
   * Delivers an event again to every webhook that wants it now: same event id and body, fresh
   * signature. Throws `not_found`.
   */
  async resend(eventId: string): Promise<Delivery[]> {
    const event = this.#events.get(eventId) ?? notFound('event', eventId)
    const ids = this.#webhooks.wanting(event).map((webhook) => this.#log.queue(event, webhook, 'resend'))
    return this.#log.list({ eventId }).filter(({ id }) => ids.includes(id))
  }

  /**
   * Delivers to one webhook every event it wants since a moment (epoch milliseconds) that never
   * reached it. Throws `not_found`.
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
