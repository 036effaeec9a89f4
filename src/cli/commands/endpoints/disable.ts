import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../command.ts'
import { changeEndpoint } from './change-endpoint.ts'

/** `upshot endpoints disable <name>`: refuses its deliveries with 401, as if it did not exist. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<name>', 'name of the endpoint').action((name) =>
    project.withStore(async (store, config) => {
      const { before, view } = await changeEndpoint(
        out,
        { store, config },
        { name, plan: (endpoint) => ({ ...endpoint, status: 'disabled' }) },
      )
      out.result(view, () => [
        before.status === 'disabled'
          ? `Endpoint "${name}" was already disabled.`
          : `Endpoint "${name}" is now disabled: its deliveries are refused with 401.`,
      ])
      out.note(`The sender may give up on refused deliveries. Enable it with "upshot endpoints enable ${name}".`)
    }),
  )
}
