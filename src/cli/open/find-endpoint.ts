import { UpshotError } from '../../core/errors.ts'
import { type Endpoint, SANDBOX_ENDPOINT, SERVICE_ENDPOINT } from '../../core/incoming/endpoint.ts'
import type { ReadStore } from '../../core/store/store.ts'
import type { Config } from '../../project/config/load-config.ts'
import { resolveAmong } from './resolve-id.ts'

/**
 * The endpoint with this name, id or beginning of an id, or the first one. Throws `not_found` with
 * all names.
 */
export async function findEndpoint(store: ReadStore, name: string | undefined): Promise<Endpoint> {
  const endpoints = await store.listEndpoints()
  const chosen =
    name === undefined
      ? endpoints[0]
      : (endpoints.find((each) => each.name === name) ?? resolveAmong(name, endpoints) ?? undefined)
  if (chosen !== undefined) return chosen
  const known = endpoints.map((endpoint) => endpoint.name).join(', ')
  throw new UpshotError('not_found', `There is no endpoint${name === undefined ? '' : ` named "${name}"`}.`, {
    details: { fix: known === '' ? 'Create one with "upshot endpoints add <name>".' : `Choose one of: ${known}.` },
  })
}

/** The part that sets this endpoint again at each start; null for an endpoint of the user. */
export function findKeeper(
  { name }: Pick<Endpoint, 'name'>,
  { service }: Pick<Config, 'service'>,
): 'environment' | 'sandbox' | null {
  if (name === SERVICE_ENDPOINT && service.kind === 'real') return 'environment'
  return name === SANDBOX_ENDPOINT && service.kind === 'sandbox' ? 'sandbox' : null
}
