import type { Command } from '@commander-js/extra-typings'
import { withStore } from '../../open/open-project.ts'
import { findAddress } from '../../open/running-app.ts'
import type { Output } from '../../terminal/output.ts'
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

/** `upshot endpoints list`: never with a secret. */
export function define(command: Command, out: Output): void {
  command.action(() =>
    withStore(async (store, config) => {
      const address = await findAddress(config)
      const endpoints = (await store.listEndpoints()).map((endpoint) => describeEndpoint(endpoint, address))
      out.result(endpoints, () => formatTable(endpoints, COLUMNS, out.paint))
      if (endpoints.length === 0) out.note('No endpoint yet. Make one with "upshot endpoints add <name>".')
      else if (address === null) out.note('The addresses are known once the app runs: UPSHOT_PORT is 0.')
    }),
  )
}
