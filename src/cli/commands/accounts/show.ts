import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../command.ts'
import { findRunningApp } from '../../open/running-app.ts'
import { describeAccount, describeDefault, formatAccount } from './account-view.ts'
import { findAccount } from './find-account.ts'

/** `upshot accounts show <name>`: one account, without its keys. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<name>', 'name of the account').action((name) =>
    project.withStore(async (store, config) => {
      const account = await findAccount(store, name)
      const endpoints = await store.listEndpoints()
      const view =
        account === null
          ? describeDefault(config, await findRunningApp(config), endpoints)
          : describeAccount(account, endpoints)
      out.result(view, () => [out.paint('bold', name), ...formatAccount(view)])
    }),
  )
}
