import type { CommandTree } from '../../command.ts'

/** The commands of `upshot accounts`. */
export const ACCOUNTS_COMMANDS: CommandTree = {
  list: { summary: 'the accounts, never with a key', load: () => import('./list.ts') },
  add: { summary: 'add an account', load: () => import('./add.ts') },
  show: {
    summary: 'one account and the endpoints that use it',
    load: () => import('./show.ts'),
  },
  edit: {
    summary: 'change its key, base URL, plan or storage names',
    load: () => import('./edit.ts'),
  },
  remove: { summary: 'forget an account and its keys', load: () => import('./remove.ts') },
}
