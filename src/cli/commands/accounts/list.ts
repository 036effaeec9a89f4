import { ACCOUNT_ROUTES } from '../../../admin/contract/resources/service/accounts.ts'
import { listCommand } from '../../operate/list-command.ts'

/** `upshot accounts list`: all accounts, without their keys. */
export const define = listCommand(ACCOUNT_ROUTES, 'GET /accounts', {
  columns: () => [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'BASE URL', value: ({ baseUrl }) => baseUrl },
    { title: 'PLAN', value: ({ plan }) => plan },
    { title: 'ENDPOINTS', value: ({ endpoints }) => (endpoints.length === 0 ? null : endpoints.join(',')), most: 60 },
    { title: 'FROM', value: ({ keeper }) => keeper ?? 'accounts add' },
  ],
  empty: 'There is no account.',
})
