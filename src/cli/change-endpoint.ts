import type { Config } from '../config.ts'
import type { Endpoint } from '../core/endpoint.ts'
import type { Store } from '../core/store.ts'
import { chooseEndpoint } from './choose-endpoint.ts'
import { describeEndpoint, type EndpointView } from './endpoint-view.ts'
import type { Output } from './output.ts'
import { findAddress } from './running-app.ts'

/** What a change made of an endpoint. */
export interface Changed {
  before: Endpoint
  after: Endpoint
  view: EndpointView
}

/** Changes one endpoint as `plan` says and gives both of its forms; under `--dry-run` nothing is written. */
export async function changeEndpoint(
  out: Output,
  { store, config }: { store: Store; config: Config },
  { name, plan }: { name: string; plan: (endpoint: Endpoint) => Endpoint },
): Promise<Changed> {
  const before = await chooseEndpoint(store, name)
  const after = plan(before)
  if (out.given.dryRun) out.note('Nothing was written: this is what it would be.')
  else await store.updateEndpoint(after)
  return { before, after, view: describeEndpoint(after, await findAddress(config)) }
}
