import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import type { Endpoint } from '../../../core/incoming/endpoint.ts'
import { withStore } from '../../open/open-project.ts'
import type { Output } from '../../terminal/output.ts'
import { changeEndpoint } from './change-endpoint.ts'

/** `upshot endpoints enable <name>`: takes deliveries again. */
export function define(command: Command, out: Output): void {
  command.argument('<name>', 'the endpoint').action((name) =>
    withStore(async (store, config) => {
      const { before, view } = await changeEndpoint(out, { store, config }, { name, plan: planEnabled })
      out.result(view, () => [
        before.status === 'active'
          ? `Endpoint "${name}" was active already.`
          : `Endpoint "${name}" takes deliveries from the next one on.`,
      ])
      out.note('What was refused in between comes only if the service sends it again.')
    }),
  )
}

/** One that learns has no scheme yet that deliveries could be verified by. */
function planEnabled(endpoint: Endpoint): Endpoint {
  if (endpoint.status !== 'learning') return { ...endpoint, status: 'active' }
  throw new UpshotError('conflict', `Endpoint "${endpoint.name}" still learns how its deliveries are signed.`, {
    details: {
      fix: `Find it out with "upshot endpoints solve ${endpoint.name}", or say it with "upshot endpoints pin".`,
    },
  })
}
