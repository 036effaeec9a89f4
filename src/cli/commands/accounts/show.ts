import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../command.ts'
import { call } from '../../open/operations.ts'
import { formatAccount } from './account-view.ts'

/** `upshot accounts show <name>`: one account, without its keys. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<name>', 'name of the account').action((name) =>
    project.withOperations(async (operations) => {
      const account = await call(operations, 'GET /accounts/:name', { params: { name } })
      out.result(account, () => [out.paint('bold', name), ...formatAccount(account)])
    }),
  )
}
