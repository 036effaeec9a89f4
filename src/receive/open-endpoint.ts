import { UpshotError } from '../core/errors.ts'
import type { Store } from '../core/store/store.ts'
import {
  type AcceptParts,
  type Addressee,
  acceptDelivery,
  type FoundEndpoint,
  nameEndpoint,
  type RawDelivery,
  type Reception,
} from './accept-delivery.ts'

interface EndpointParts extends AcceptParts {
  store: AcceptParts['store'] & Pick<Store, 'findEndpoint' | 'readSetupVersion'>
}

/** Plans of one delivery; after the last one is stale, the sender tries again. */
const MAX_PLANS = 5

/**
 * The endpoint with this path. Unknown endpoints take the same path as known ones, so that a prober
 * cannot tell them apart.
 */
export async function openEndpoint(parts: EndpointParts, path: string): Promise<Addressee> {
  const found = await find(parts.store, path)
  const { endpoint } = found
  return {
    limitKey: endpoint?.id,
    about: nameEndpoint(endpoint),
    refusal: endpoint === null ? 'unknown_endpoint' : endpoint.status === 'disabled' ? 'disabled' : null,
    accept: (delivery) => plan(parts, { path, found }, delivery),
  }
}

/** The version is read first, so that a change between the two reads makes the plan stale. */
async function find(store: EndpointParts['store'], path: string): Promise<FoundEndpoint> {
  const setup = await store.readSetupVersion()
  return { setup, endpoint: await store.findEndpoint(path, setup) }
}

/** Plans again, from the endpoint on, when endpoints or routes changed before the commit. */
async function plan(
  parts: EndpointParts,
  { path, found }: { path: string; found: FoundEndpoint },
  delivery: RawDelivery,
): Promise<Reception> {
  for (let plan = 1; ; plan++) {
    try {
      return await acceptDelivery(parts, found, delivery)
    } catch (error) {
      if (!isStalePlan(error) || plan === MAX_PLANS) throw error
      found = await find(parts.store, path)
    }
  }
}

function isStalePlan(error: unknown): boolean {
  return error instanceof UpshotError && error.code === 'stale_plan'
}
