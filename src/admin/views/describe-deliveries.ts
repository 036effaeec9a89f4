import type { z } from 'zod'
import { answerStatus, type DeliveryRecord } from '../../core/incoming/delivery.ts'
import { nameSubject } from '../../core/incoming/subject.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { withIsoTimes } from '../../core/time.ts'
import type { Caller } from '../access/caller.ts'
import type { delivery } from '../contract/resources/deliveries.ts'
import { seesPayloads } from './run-view.ts'

/** Deliveries as the API gives them, with the names of their endpoints, removed ones too. */
export async function describeDeliveries(
  store: Pick<ReadStore, 'listEndpointNames' | 'listEventsOf'>,
  records: readonly DeliveryRecord[],
  caller: Pick<Caller, 'role'>,
): Promise<z.input<typeof delivery>[]> {
  const endpoints = new Map((await store.listEndpointNames()).map((endpoint) => [endpoint.id, endpoint]))
  const stored = records.filter(({ eventId }) => eventId !== null).map(({ id }) => id)
  const events = new Map((await store.listEventsOf('delivery', stored)).map(({ of, event }) => [of, event]))
  return records.map(({ endpointId, ...record }) => {
    const event = events.get(record.id)
    return {
      ...withIsoTimes(record),
      endpoint: endpoints.get(endpointId ?? '')?.name ?? null,
      isEndpointRemoved: (endpoints.get(endpointId ?? '')?.removedAt ?? null) !== null,
      status: answerStatus(record),
      eventType: event?.type ?? null,
      subject: event === undefined || !seesPayloads(caller) ? null : nameSubject(event),
      facts: { ...record.facts },
    }
  })
}
