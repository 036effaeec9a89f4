import type { StoredEvent } from '../state/event-journal.ts'

/** How far a delivery is. `pending` waits for its next attempt; `failed` will have none. */
export type DeliveryState = 'pending' | 'sending' | 'delivered' | 'failed'

/** One try to deliver. */
export interface Attempt {
  /** From 1. */
  number: number
  at: string
  durationMs: number
  /** Null when no reply came. */
  status: number | null
  /** Why no reply came, or what a fault did; null otherwise. */
  error: string | null
}

/** One event on its way to one webhook. */
export interface Delivery {
  id: string
  eventId: string
  type: string
  webhookId: string
  url: string
  /**
   * `event`: it just happened; `resend` and `backfill` were asked for; `duplicate`: a fault made a
   * second one.
   */
  cause: DeliveryCause
  state: DeliveryState
  /** When the next attempt is due; null when there will be none. */
  nextAttemptAt: string | null
  createdAt: string
  attempts: Attempt[]
}
export type DeliveryCause = 'event' | 'resend' | 'backfill' | 'duplicate'

/** A delivery whose attempt is due now. */
export interface DueDelivery {
  id: string
  event: StoredEvent
  webhookId: string
  /** From 1. */
  attempt: number
  /** Whether a fault has made it, or held it up, already: it does so once. */
  isDiverted: boolean
}

/** Which deliveries are meant; what is left out matches all. */
export interface DeliveryFilter {
  eventId?: string | undefined
  webhookId?: string | undefined
  type?: string | undefined
  state?: DeliveryState | undefined
}
