import type { Look, Sighting } from '../../core/alerts/alert-book.ts'
import type { AlertRule } from '../../core/alerts/alert-rule.ts'
import { MAX_REFUSALS } from '../../core/incoming/delivery.ts'
import type { Endpoint } from '../../core/incoming/endpoint.ts'
import type { ReadStore } from '../../core/store/store.ts'

interface EndpointLook {
  store: Pick<ReadStore, 'listEndpoints' | 'listEndpointUses' | 'listDeliveries' | 'listDeliveryHours'>
}

/** The store notes the use of a secret to the minute. */
const USE_MS = 60_000

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
/** Days that are compared, and on how many of them an endpoint took something at that hour. */
const DAYS = 7
const USUAL_DAYS = 4

/** Endpoints where more than `over` signatures have failed since the last one that matched. */
export async function lookAtSecrets(
  { store }: EndpointLook,
  { over }: AlertRule,
  position: string | null,
  now: number,
): Promise<Look> {
  // One question for all: an endpoint that looks for its own passes over those of the others.
  const failed = await store.listDeliveries({ verdicts: ['bad_signature'], limit: MAX_REFUSALS })
  const byEndpoint = Map.groupBy(failed, ({ endpointId }) => endpointId)
  const sightings: Sighting[] = []
  const uses = await readLastUses(store)
  for (const endpoint of await store.listEndpoints()) {
    const usedAt = uses.get(endpoint.id)
    if (usedAt === undefined) continue
    const since = (byEndpoint.get(endpoint.id) ?? []).filter(({ receivedAt }) => receivedAt >= usedAt + USE_MS)
    if (since.length <= over) continue
    const title = `signatures of the endpoint ${endpoint.name} fail: its secret may have changed`
    sightings.push({ ...describe(endpoint, title), at: now, count: since.length })
  }
  return { sightings, position }
}

/** Active endpoints that took nothing for `forMs`, though they usually do at this hour. */
export async function lookAtSilence(
  { store }: EndpointLook,
  { forMs }: AlertRule,
  position: string | null,
  now: number,
): Promise<Look> {
  const hours = await store.listDeliveryHours(now - (DAYS + 1) * DAY_MS)
  const accepted = hours.filter(({ verdict }) => verdict === 'accepted')
  const byEndpoint = Map.groupBy(accepted, ({ endpointId }) => endpointId)
  const sightings: Sighting[] = []
  const uses = await readLastUses(store)
  for (const endpoint of await store.listEndpoints()) {
    const usedAt = uses.get(endpoint.id)
    if (endpoint.status !== 'active' || usedAt === undefined || now - usedAt < forMs + USE_MS) continue
    const taken = byEndpoint.get(endpoint.id) ?? []
    const days = Array.from({ length: DAYS }, (_, index) => now - (index + 1) * DAY_MS)
    const usual = days.filter((end) => taken.some(({ hour }) => isWithin(hour, end - forMs, end)))
    if (usual.length < USUAL_DAYS) continue
    const title = `the endpoint ${endpoint.name} takes nothing, though it usually does at this hour`
    sightings.push({ ...describe(endpoint, title), at: usedAt, count: 1 })
  }
  return { sightings, position }
}

function isWithin(hour: number, from: number, until: number): boolean {
  return hour * HOUR_MS < until && (hour + 1) * HOUR_MS > from
}

async function readLastUses(store: EndpointLook['store']): Promise<Map<string, number>> {
  return new Map((await store.listEndpointUses()).map(({ endpointId, lastUsedAt }) => [endpointId, lastUsedAt]))
}

function describe({ id, name }: Endpoint, title: string) {
  return { id, title, page: `/endpoints/${name}`, command: `endpoints show ${name}` }
}
