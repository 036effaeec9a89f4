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
  const endpoints = new Map((await store.listEndpointNames()).map((endpoint) => [endpoint.id, endpoint]))
  return records.map(({ endpointId, receivedAt, ...record }) => ({
    ...record,
    endpoint: endpoints.get(endpointId ?? '')?.name ?? null,
    isEndpointRemoved: (endpoints.get(endpointId ?? '')?.removedAt ?? null) !== null,
    receivedAt: isoTime(receivedAt),
    status: answerStatus(record),
    facts: { ...record.facts },
  }))
}
