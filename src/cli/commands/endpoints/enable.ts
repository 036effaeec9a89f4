import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import type { Endpoint } from '../../../core/incoming/endpoint.ts'
import type { Cli } from '../../command.ts'
import { changeEndpoint } from './change-endpoint.ts'

/** `upshot endpoints enable <name>`: accepts deliveries again. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<name>', 'name of the endpoint').action((name) =>
    project.withStore(async (store, config) => {
      const { before, view } = await changeEndpoint(out, { store, config }, { name, plan: planEnabled })
      out.result(view, () => [
        before.status === 'active'
          ? `Endpoint "${name}" was already active.`
          : `Endpoint "${name}" accepts deliveries from now on.`,
      ])
      out.note('Deliveries refused meanwhile arrive only if the service sends them again.')
    }),
  )
}

/** Refuses an endpoint that is learning, because its scheme is not known yet. */
function planEnabled(endpoint: Endpoint): Endpoint {
  if (endpoint.status !== 'learning') return { ...endpoint, status: 'active' }
  throw new UpshotError('conflict', `Endpoint "${endpoint.name}" is still learning how its deliveries are signed.`, {
    details: {
      fix:
        `Find the scheme with "upshot endpoints solve ${endpoint.name}", ` +
        `or set it with "upshot endpoints pin ${endpoint.name} --scheme <scheme>".`,
    },
  })
}
