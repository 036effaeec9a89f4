import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../command.ts'
import { findAddress } from '../../open/running-app.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { describeEndpoint, type EndpointView } from './endpoint-view.ts'

const COLUMNS: Column<EndpointView>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'STATUS', value: ({ status }) => status, style: ({ status }) => (status === 'active' ? 'green' : 'yellow') },
  { title: 'ACCOUNT', value: ({ account }) => account },
  { title: 'EVENTS', value: ({ events }) => events.join(','), most: 40 },
  { title: 'HEADER', value: ({ header }) => header },
  { title: 'URL', value: ({ url }) => url },
]

/** `upshot endpoints list`: all endpoints, without their secrets. */
export function define(command: Command, { out, project }: Cli): void {
  command.action(() =>
    project.withStore(async (store, config) => {
      const address = await findAddress(config)
      const endpoints = (await store.listEndpoints()).map((endpoint) => describeEndpoint(endpoint, address))
      out.result(endpoints, () => formatTable(endpoints, COLUMNS, out))
      if (endpoints.length === 0) out.note('No endpoint yet. Create one with "upshot endpoints add <name>".')
      else if (address === null) out.note('The URLs are known only while the app is running, because UPSHOT_PORT is 0.')
    }),
  )
}
