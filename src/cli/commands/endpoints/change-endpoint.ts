import { requireEndpoint } from '../../../admin/queries/require-row.ts'
import type { Endpoint } from '../../../core/incoming/endpoint.ts'
import type { Config } from '../../../project/config/load-config.ts'
import type { PersonStore } from '../../open/operations.ts'
import { findAddress } from '../../open/running-app.ts'
import type { Output } from '../../terminal/output.ts'
import { describeEndpoint, type EndpointView } from './endpoint-view.ts'

/** An endpoint before and after a change. */
interface Changed {
  before: Endpoint
  after: Endpoint
  view: EndpointView
}

/** Changes one endpoint with `plan` and saves it, except under `--dry-run`. */
export async function changeEndpoint(
  out: Output,
  { store, config }: { store: PersonStore; config: Config },
  { name, plan }: { name: string; plan: (endpoint: Endpoint) => Endpoint },
): Promise<Changed> {
  const before = await requireEndpoint(store, name)
  const after = plan(before)
  if (out.given.dryRun) out.note('Dry run: nothing was saved. This is what would be saved.')
  else await store.updateEndpoint(after)
  return { before, after, view: describeEndpoint(after, await findAddress(config)) }
}
