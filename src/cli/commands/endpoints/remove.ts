import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import { systemClock } from '../../../core/time.ts'
import { findEndpoint, findKeeper } from '../../open/find-endpoint.ts'
import { withStore } from '../../open/open-project.ts'
import { confirm } from '../../terminal/confirm.ts'
import type { Output } from '../../terminal/output.ts'

const DAY_MS = 86_400_000

/**
 * `upshot endpoints remove <name>`: ends its address and its secrets; deliveries, events and runs
 * stay.
 */
export function define(command: Command, out: Output): void {
  command.argument('<name>', 'the endpoint').action((name) =>
    withStore(async (store, config) => {
      const endpoint = await findEndpoint(store, name)
      if (findKeeper(endpoint, config) !== null) throw refuseKept(name)
      const counts = Object.values(await store.countDeliveries(endpoint.id, systemClock.now() - DAY_MS))
      const deliveries = counts.reduce((sum, count) => sum + count, 0)
      const isMeant = await confirm(out, {
        will: `remove the endpoint "${name}": its address and its secrets end for ever`,
        things: [
          `${deliveries} deliveries came in the last 24 h; more of them will be refused`,
          'deliveries, events and runs that are stored stay',
        ],
      })
      if (isMeant) await store.removeEndpoint(endpoint, systemClock.now())
      out.result({ name, id: endpoint.id, removed: isMeant }, () => [
        isMeant ? `Endpoint "${name}" is removed. What it received is still there.` : 'Nothing was removed.',
      ])
      if (isMeant) out.note('Take its address out of the webhook settings of the service.')
    }),
  )
}

function refuseKept(name: string): UpshotError {
  return new UpshotError('conflict', `The app makes the endpoint "${name}" at each start, so it cannot be removed.`, {
    details: { fix: `Refuse its deliveries with "upshot endpoints disable ${name}".` },
  })
}
