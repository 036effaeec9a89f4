import { UpshotError } from '../../core/errors.ts'
import { type Endpoint, SANDBOX_ENDPOINT, SERVICE_ENDPOINT } from '../../core/incoming/endpoint.ts'
import type { ReadStore } from '../../core/store/store.ts'
import type { Config } from '../../project/config/load-config.ts'

/** The endpoint of that name, or the first one; throws `not_found` that names those there are. */
export async function findEndpoint(store: ReadStore, name: string | undefined): Promise<Endpoint> {
  const endpoints = await store.listEndpoints()
  const chosen = name === undefined ? endpoints[0] : endpoints.find((endpoint) => endpoint.name === name)
  if (chosen !== undefined) return chosen
  const known = endpoints.map((endpoint) => endpoint.name).join(', ')
  throw new UpshotError('not_found', `There is no endpoint${name === undefined ? '' : ` named "${name}"`}.`, {
    details: { fix: known === '' ? 'Make one with "upshot endpoints add <name>".' : `Choose one of: ${known}.` },
  })
}

/**
 * Who sees to an endpoint at each start of the app, and would undo what a person changes; null for
 * one of the user's own.
 */
export function findKeeper(
  { name }: Pick<Endpoint, 'name'>,
  { service }: Pick<Config, 'service'>,
): 'environment' | 'sandbox' | null {
  if (name === SERVICE_ENDPOINT && service.kind === 'real') return 'environment'
  return name === SANDBOX_ENDPOINT && service.kind === 'sandbox' ? 'sandbox' : null
}
