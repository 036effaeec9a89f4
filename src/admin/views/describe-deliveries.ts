import type { z } from 'zod'
import { answerStatus, type DeliveryRecord } from '../../core/incoming/delivery.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { isoTime } from '../../core/time.ts'
import type { delivery } from '../contract/resources/deliveries.ts'

/** Deliveries as the API gives them, with the names of their endpoints, removed ones too. */
export async function describeDeliveries(
  store: Pick<ReadStore, 'listEndpointNames'>,
  records: readonly DeliveryRecord[],
): Promise<z.input<typeof delivery>[]> {
  const names = new Map((await store.listEndpointNames()).map(({ id, name }) => [id, name]))
  return records.map(({ endpointId, receivedAt, ...record }) => ({
    ...record,
    endpoint: names.get(endpointId ?? '') ?? null,
    receivedAt: isoTime(receivedAt),
    status: answerStatus(record),
    facts: { ...record.facts },
  }))
}
