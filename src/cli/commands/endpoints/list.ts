import { ENDPOINT_ROUTES } from '../../../admin/contract/resources/endpoints.ts'
import { listCommand } from '../../operate/list-command.ts'

/** `upshot endpoints list`: all endpoints, without their secrets. */
export const define = listCommand(ENDPOINT_ROUTES, 'GET /endpoints', {
  columns: () => [
    { title: 'NAME', value: ({ name }) => name },
    {
      title: 'STATUS',
      value: ({ status }) => status,
      style: ({ status }) => (status === 'active' ? 'green' : 'yellow'),
    },
    { title: 'ACCOUNT', value: ({ account }) => account },
    { title: 'EVENTS', value: ({ events }) => events.join(','), most: 40 },
    { title: 'HEADER', value: ({ scheme }) => scheme.header },
    { title: 'URL', value: ({ url }) => url },
  ],
  empty: 'No endpoint yet. Create one with "upshot endpoints add <name>".',
  after: ({ items }) =>
    items.some(({ url }) => url === null)
      ? ['The URLs are known only while the app is running, because UPSHOT_PORT is 0.']
      : [],
})
