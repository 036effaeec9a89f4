import { UpshotError } from '../../../core/errors.ts'
import type { DeliveryRecord } from '../../../core/incoming/delivery.ts'
import type { EventRecord } from '../../../core/incoming/event.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import { resolveId } from '../../open/resolve-id.ts'

/** A delivery with its event, null if none is stored. Throws `not_found`. */
export async function findDelivery(
  store: Pick<ReadStore, 'findDelivery' | 'listDeliveryIds'>,
  id: string,
): Promise<{ delivery: DeliveryRecord; event: EventRecord | null }> {
  const found = await resolveId(id, {
    prefix: 'dlv_',
    find: (whole) => store.findDelivery(whole),
    list: (beginning, limit) => store.listDeliveryIds(beginning, limit),
  })
  if (found !== null) return found
  throw new UpshotError('not_found', `There is no delivery ${id} in this data directory.`, {
    details: { fix: 'List the deliveries with "upshot deliveries list".' },
  })
}
