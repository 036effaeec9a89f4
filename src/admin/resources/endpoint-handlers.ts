import { UpshotError } from '../../core/errors.ts'
import type { Endpoint } from '../../core/incoming/endpoint.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { isoTime } from '../../core/time.ts'
import type { ENDPOINT_ROUTES } from '../contract/endpoints.ts'
import type { Handlers } from '../http/handler.ts'
import { momentOf } from '../views/moment-of.ts'
import type { ResourceParts } from './parts.ts'

/** Endpoints: secrets by position and last use, never by value. */
export function endpointHandlers({ store }: ResourceParts): Handlers<keyof typeof ENDPOINT_ROUTES> {
  return {
    async 'GET /endpoints'() {
      const endpoints = await store.listEndpoints()
      return { items: await Promise.all(endpoints.map((endpoint) => describeEndpoint(store, endpoint))) }
    },
    async 'GET /endpoints/:name'({ params }) {
      return describeEndpoint(store, await requireEndpoint(store, params.name))
    },
  }
}

/** Throws `not_found`, which lists the names. */
export async function requireEndpoint(store: Pick<ReadStore, 'listEndpoints'>, name: string): Promise<Endpoint> {
  const endpoints = await store.listEndpoints()
  const endpoint = endpoints.find((each) => each.name === name)
  if (endpoint) return endpoint
  const known = endpoints.map((each) => each.name).join(', ')
  throw new UpshotError('not_found', `There is no endpoint named "${name}".`, {
    details: { fix: known === '' ? 'Add one first.' : `Choose one of: ${known}.` },
  })
}

async function describeEndpoint(store: Pick<ReadStore, 'listSecretUses' | 'listCaptures'>, endpoint: Endpoint) {
  const { id, name, path, account, events, status, scheme, createdAt, revision, secrets } = endpoint
  const { algorithm, encoding, header, grammar, signed, secret } = scheme
  const uses = new Map((await store.listSecretUses(id)).map((use) => [use.position, use.lastUsedAt]))
  return {
    ...{ id, name, path: `/hooks/${path}`, account, events, status, revision, createdAt: isoTime(createdAt) },
    scheme: { algorithm, encoding, header, grammar, signed, secret },
    secrets: secrets.map(({ position, activeFrom, until }) => ({
      position,
      activeFrom: isoTime(activeFrom),
      until: momentOf(until),
      lastUsedAt: momentOf(uses.get(position) ?? null),
    })),
    captures: status === 'learning' ? (await store.listCaptures(id)).length : 0,
  }
}
