import { UpshotError } from '../../../core/errors.ts'
import type { DeliveryRecord } from '../../../core/incoming/delivery.ts'
import type { EventRecord } from '../../../core/incoming/event.ts'
import type { ReadStore } from '../../../core/store/store.ts'

/** A delivery with its event, null if none is stored. Throws `not_found`. */
export async function findDelivery(
  store: Pick<ReadStore, 'findDelivery'>,
  id: string,
): Promise<{ delivery: DeliveryRecord; event: EventRecord | null }> {
  const found = await store.findDelivery(id)
  if (found !== null) return found
  throw new UpshotError('not_found', `There is no delivery ${id} in this data directory.`, {
    details: { fix: 'List the deliveries with "upshot deliveries list".' },
  })
}
