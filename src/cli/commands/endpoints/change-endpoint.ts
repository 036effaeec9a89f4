import type { Endpoint } from '../../../core/incoming/endpoint.ts'
import type { Store } from '../../../core/store/store.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { findEndpoint } from '../../open/find-endpoint.ts'
import { findAddress } from '../../open/running-app.ts'
import type { Output } from '../../terminal/output.ts'
import { describeEndpoint, type EndpointView } from './endpoint-view.ts'

/** What a change made of an endpoint. */
export interface Changed {
  before: Endpoint
  after: Endpoint
  view: EndpointView
}

/**
 * Changes one endpoint as `plan` says and gives both of its forms; under `--dry-run` nothing is
 * written.
 */
export async function changeEndpoint(
  out: Output,
  { store, config }: { store: Store; config: Config },
  { name, plan }: { name: string; plan: (endpoint: Endpoint) => Endpoint },
): Promise<Changed> {
  const before = await findEndpoint(store, name)
  const after = plan(before)
  if (out.given.dryRun) out.note('Nothing was written: this is what it would be.')
  else await store.updateEndpoint(after)
  return { before, after, view: describeEndpoint(after, await findAddress(config)) }
}
