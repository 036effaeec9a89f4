import type { Command } from '@commander-js/extra-typings'
import { withStore } from '../../open/open-project.ts'
import { findRunningApp } from '../../open/running-app.ts'
import type { Output } from '../../terminal/output.ts'
import { describeAccount, describeDefault, formatAccount } from './account-view.ts'
import { findAccount } from './find-account.ts'

/** `upshot accounts show <name>`: all that is known of an account but its keys. */
export function define(command: Command, out: Output): void {
  command.argument('<name>', 'the account').action((name) =>
    withStore(async (store, config) => {
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
