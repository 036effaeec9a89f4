import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../command.ts'
import { findRunningApp } from '../../open/running-app.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { type AccountView, describeAccount, describeDefault } from './account-view.ts'

const COLUMNS: Column<AccountView>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'BASE URL', value: ({ baseUrl }) => baseUrl },
  { title: 'PLAN', value: ({ plan }) => plan },
  { title: 'ENDPOINTS', value: ({ endpoints }) => (endpoints.length === 0 ? null : endpoints.join(',')), most: 60 },
  { title: 'FROM', value: ({ from }) => from },
]

/** `upshot accounts list`: all accounts, without their keys. */
export function define(command: Command, { out, project }: Cli): void {
  command.action(() =>
    project.withStore(async (store, config) => {
      const endpoints = await store.listEndpoints()
      const accounts = (await store.listAccounts()).map((account) => describeAccount(account, endpoints))
      const views = [describeDefault(config, await findRunningApp(config), endpoints), ...accounts]
      out.result(views, () => formatTable(views, COLUMNS, out))
    }),
  )
}
