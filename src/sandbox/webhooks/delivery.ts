import type { StoredEvent } from '../state/event-journal.ts'

/** The state of a delivery. `pending` waits for its next attempt; `failed` has none left. */
export type DeliveryState = 'pending' | 'sending' | 'delivered' | 'failed'

/** An attempt to deliver. */
export interface Attempt {
  /** From 1. */
  number: number
  /** When it was sent, ISO 8601. */
  at: string
  /** Milliseconds of the machine's clock. */
  durationMs: number
  /** HTTP status; null without a reply. */
  status: number | null
  /** Why there was no reply, or what a fault did. Null otherwise. */
  error: string | null
}

/** An event on its way to a webhook. */
export interface Delivery {
  id: string
  eventId: string
  type: string
  webhookId: string
  url: string
  /**
   * `event`: it just happened; `resend`, `backfill`: on request; `duplicate`: sent twice by a
   * fault.
   */
  cause: DeliveryCause
  state: DeliveryState
  /** Due time of the next attempt, ISO 8601; null if there is none. */
  nextAttemptAt: string | null
  createdAt: string
  attempts: Attempt[]
}
export type DeliveryCause = 'event' | 'resend' | 'backfill' | 'duplicate'

/** A delivery claimed for sending. */
export interface DueDelivery {
  id: string
  event: StoredEvent
  webhookId: string
  /** From 1. */
  attempt: number
  /** Whether a fault has created or delayed it. A fault does so only once. */
  isDiverted: boolean
}

/** Selects deliveries; omitted fields match all. */
export interface DeliveryFilter {
  /** Default any event. */
  eventId?: string | undefined
  /** Default any webhook. */
  webhookId?: string | undefined
  /** The exact type of the event. Default any. */
  type?: string | undefined
  /** Default any state. */
  state?: DeliveryState | undefined
}
