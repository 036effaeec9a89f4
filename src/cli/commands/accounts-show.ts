import type { Command } from '@commander-js/extra-typings'
import { describeAccount, describeDefault, formatAccount } from '../account-view.ts'
import { requireAccount } from '../choose-account.ts'
import type { Output } from '../output.ts'
import { withStore } from '../project.ts'
import { findRunningApp } from '../running-app.ts'

/** `upshot accounts show <name>`: all that is known of an account but its keys. */
export function define(command: Command, out: Output): void {
  command.argument('<name>', 'the account').action((name) =>
    withStore(async (store, config) => {
      const account = await requireAccount(store, name)
      const endpoints = await store.listEndpoints()
      const view =
        account === null
          ? describeDefault(config, await findRunningApp(config), endpoints)
          : describeAccount(account, endpoints)
      out.result(view, () => [out.paint('bold', name), ...formatAccount(view)])
    }),
  )
}
