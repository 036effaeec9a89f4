import type {
  Capture,
  DeliveryQuery,
  DeliveryReceipt,
  DeliveryRecord,
  IncomingDelivery,
  Refusal,
  RefusalTally,
  RefusedDelivery,
  UnmatchedTally,
  Verdict,
} from '../incoming/delivery.ts'
import type { EventRecord } from '../incoming/event.ts'

/**
 * Saves a delivery, its event if new, and its runs in one commit. The store implements it, and so
 * does a worker beside the receiver, which claims the runs in that commit.
 */
export interface DeliveryIntake {
  /**
   * Resolves after the commit. An event counts once per account, whichever endpoint received it.
   * Rejects with `stale_plan` when endpoints or routes have changed since `setup` was read.
   */
  saveDelivery(delivery: IncomingDelivery): Promise<DeliveryReceipt>
}

export interface DeliveryWrites extends DeliveryIntake {
  /**
   * Adds a row for a refusal. The newest 10,000 rows of each verdict stay; the commit that exceeds
   * this deletes the oldest.
   */
  saveRefusal(delivery: RefusedDelivery): Promise<void>
  /** Counts refusals that get no row because too many came at once. */
  countRefusals(unlisted: Partial<Record<Refusal, number>>): Promise<void>
  /**
   * Keeps a capture within `CAPTURE_LIMITS`. False when the endpoint is no longer in learning mode,
   * or the capture alone exceeds the limit.
   */
  saveCapture(capture: Capture): Promise<boolean>
  dropCaptures(endpointId: string): Promise<void>
}

export interface DeliveryReads {
  /** Newest first. */
  listDeliveries(query: DeliveryQuery): Promise<DeliveryRecord[]>
  /** Ids that begin so, oldest first. */
  listDeliveryIds(beginning: string, limit: number): Promise<string[]>
  /** All deliveries of an event, duplicates included; newest first. */
  listDeliveriesOf(event: Pick<EventRecord, 'id' | 'account'>, limit: number): Promise<DeliveryRecord[]>
  /** Deliveries of an endpoint by verdict since a moment. Reads every row of that time. */
  countDeliveries(endpointId: string, since: number): Promise<Partial<Record<Verdict, number>>>
  /**
   * A delivery and its event; the event is null for a refusal, and after its row is gone. Null for
   * an unknown id.
   */
  findDelivery(id: string): Promise<{ delivery: DeliveryRecord; event: EventRecord | null } | null>
  /** Every verdict that ever refused a delivery. */
  tallyRefusals(): Promise<RefusalTally[]>
  /** Every type that an accepted event ever had when no workflow started on it. */
  tallyUnmatched(): Promise<UnmatchedTally[]>
  /** Oldest first. */
  listCaptures(endpointId: string): Promise<Capture[]>
}
