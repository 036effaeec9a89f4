import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { findEndpoint, findKeeper } from '../../open/find-endpoint.ts'
import { confirm } from '../../terminal/confirm.ts'

const DAY_MS = 86_400_000

/** `upshot endpoints remove <name>`: removes its address and secrets; events and runs are kept. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<name>', 'name of the endpoint').action((name) =>
    project.withStore(async (store, config) => {
      const endpoint = await findEndpoint(store, name)
      if (findKeeper(endpoint, config) !== null) throw refuseKept(name)
      const counts = Object.values(await store.countDeliveries(endpoint.id, commandClock.now() - DAY_MS))
      const deliveries = counts.reduce((sum, count) => sum + count, 0)
      const isConfirmed = await confirm(out, {
        will: `remove the endpoint "${name}", its address and its secrets for good`,
        things: [
          `it received ${deliveries} deliveries in the last 24 h; further ones will be refused`,
          'stored deliveries, events and runs are kept',
        ],
      })
      if (isConfirmed) await store.removeEndpoint(endpoint, commandClock.now())
      out.result({ name, id: endpoint.id, removed: isConfirmed }, () => [
        isConfirmed ? `Removed the endpoint "${name}". The events it received are kept.` : 'Nothing was removed.',
      ])
      if (isConfirmed) out.note('Remove its address from the webhook settings of the service.')
    }),
  )
}

function refuseKept(name: string): UpshotError {
  return new UpshotError('conflict', `The app creates the endpoint "${name}" at each start, so it cannot be removed.`, {
    details: { fix: `Refuse its deliveries with "upshot endpoints disable ${name}".` },
  })
}
