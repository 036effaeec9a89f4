import type { Command } from '@commander-js/extra-typings'
import { changeEndpoint } from '../change-endpoint.ts'
import type { Output } from '../output.ts'
import { withStore } from '../project.ts'

/** `upshot endpoints disable <name>`: refuses its deliveries from the next one on, as if it did not exist. */
export function define(command: Command, out: Output): void {
  command.argument('<name>', 'the endpoint').action((name) =>
    withStore(async (store, config) => {
      const { before, view } = await changeEndpoint(
        out,
        { store, config },
        { name, plan: (endpoint) => ({ ...endpoint, status: 'disabled' }) },
      )
      out.result(view, () => [
        before.status === 'disabled'
          ? `Endpoint "${name}" was disabled already.`
          : `Endpoint "${name}" is disabled: its deliveries are refused with 401 from the next one on.`,
      ])
      out.note(`A sender may give up on what is refused. Take deliveries again with "upshot endpoints enable ${name}".`)
    }),
  )
}
