import type { Command } from '@commander-js/extra-typings'
import { changeEndpoint } from '../change-endpoint.ts'
import type { Output } from '../output.ts'
import { withStore } from '../project.ts'

/** `upshot endpoints enable <name>`: takes deliveries again. */
export function define(command: Command, out: Output): void {
  command.argument('<name>', 'the endpoint').action((name) =>
    withStore(async (store, config) => {
      const { before, view } = await changeEndpoint(
        out,
        { store, config },
        { name, plan: (endpoint) => ({ ...endpoint, status: 'active' }) },
      )
      out.result(view, () => [
        before.status === 'active'
          ? `Endpoint "${name}" was active already.`
          : `Endpoint "${name}" takes deliveries from the next one on.`,
      ])
      out.note('What was refused in between comes only if the service sends it again.')
    }),
  )
}
