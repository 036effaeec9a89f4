import type { CommandTree } from '../../command.ts'

/** The commands of `upshot accounts`. */
export const ACCOUNTS_COMMANDS: CommandTree = {
  list: { summary: 'list the accounts, without their keys', load: () => import('./list.ts') },
  add: { summary: 'add an account', load: () => import('./add.ts') },
  show: {
    summary: 'show an account and the endpoints that use it',
    load: () => import('./show.ts'),
  },
  edit: {
    summary: 'change the key, base URL, plan or storage names of an account',
    load: () => import('./edit.ts'),
  },
  remove: { summary: 'remove an account and its keys', load: () => import('./remove.ts') },
}
