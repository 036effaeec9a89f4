import type { CommandTree } from '../../command.ts'

/** The commands of `upshot db`. */
export const DB_COMMANDS: CommandTree = {
  backup: {
    summary: 'copy it while the app runs, and check the copy',
    load: () => import('./backup.ts'),
  },
  verify: {
    summary: 'read all of it, or of a backup, and say what is wrong',
    load: () => import('./verify.ts'),
  },
  prune: {
    summary: 'remove now what is older than the retention of the project',
    load: () => import('./prune.ts'),
  },
  reseal: {
    summary: 'seal the secrets in it under another key',
    load: () => import('./reseal.ts'),
  },
}
