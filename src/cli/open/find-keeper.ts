import { type Endpoint, SANDBOX_ENDPOINT, SERVICE_ENDPOINT } from '../../core/incoming/endpoint.ts'
import type { Config } from '../../project/config/load-config.ts'

/** The part that sets this endpoint again at each start; null for an endpoint of the user. */
export function findKeeper(
  { name }: Pick<Endpoint, 'name'>,
  { service }: Pick<Config, 'service'>,
): 'environment' | 'sandbox' | null {
  if (name === SERVICE_ENDPOINT && service.kind === 'real') return 'environment'
  return name === SANDBOX_ENDPOINT && service.kind === 'sandbox' ? 'sandbox' : null
}
