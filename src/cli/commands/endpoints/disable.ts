import type { Command } from '@commander-js/extra-typings'
import { withStore } from '../../open/open-project.ts'
import type { Output } from '../../terminal/output.ts'
import { changeEndpoint } from './change-endpoint.ts'

/**
 * `upshot endpoints disable <name>`: refuses its deliveries from the next one on, as if it did not
 * exist.
 */
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
