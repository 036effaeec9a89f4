import type {
  Capture,
  DeliveryQuery,
  DeliveryReceipt,
  DeliveryRecord,
  IncomingDelivery,
  Refusal,
  RefusalTally,
  RefusedDelivery,
  Verdict,
} from '../incoming/delivery.ts'
import type { EventRecord } from '../incoming/event.ts'

/**
 * Takes a verified delivery in: the delivery, its event if new, and its runs, in one commit. The
 * store does. So does a worker in the receiver's process, which claims the runs in that same
 * commit.
 */
export interface DeliveryIntake {
  /** The event counts once per account, whatever the endpoint. */
  saveDelivery(delivery: IncomingDelivery): Promise<DeliveryReceipt>
}

export interface DeliveryWrites extends DeliveryIntake {
  /**
   * A row for a refusal. Of each verdict the newest 10,000 stay; the commit that passes this
   * deletes the oldest.
   */
  saveRefusal(delivery: RefusedDelivery): Promise<void>
  /** Counts refusals that leave no row, because too many came at once. */
  countRefusals(unlisted: Partial<Record<Refusal, number>>): Promise<void>
  /**
   * Keeps a delivery of an endpoint that learns, within `CAPTURE_LIMITS`. False when the endpoint
   * does not learn any more, or the capture alone is over the limit.
   */
  saveCapture(capture: Capture): Promise<boolean>
  dropCaptures(endpointId: string): Promise<void>
}

export interface DeliveryReads {
  /** Newest first. */
  listDeliveries(query: DeliveryQuery): Promise<DeliveryRecord[]>
  /** The deliveries that brought this event, the first and the repeated ones; newest first. */
  listDeliveriesOf(event: Pick<EventRecord, 'id' | 'account'>, limit: number): Promise<DeliveryRecord[]>
  /** How many requests an endpoint has met with each verdict since a moment. Reads all of them. */
  countDeliveries(endpointId: string, since: number): Promise<Partial<Record<Verdict, number>>>
  /**
   * A delivery and the event that it brought; null for a refused one, and for an event that is not
   * kept any more.
   */
  findDelivery(id: string): Promise<{ delivery: DeliveryRecord; event: EventRecord | null } | null>
  /** Every verdict that ever refused something. */
  tallyRefusals(): Promise<RefusalTally[]>
  /** Oldest first. */
  listCaptures(endpointId: string): Promise<Capture[]>
}
