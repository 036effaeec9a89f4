import type { CommandTree } from '../../command.ts'

/** The commands of `upshot db`. */
export const DB_COMMANDS: CommandTree = {
  migrate: {
    summary: 'make the schema in PostgreSQL, or bring it up to date',
    load: () => import('./migrate.ts'),
  },
  move: {
    summary: 'move the database file into PostgreSQL, without losing a run',
    load: () => import('./move.ts'),
  },
  backup: {
    summary: 'copy the database while the app is running, and check the copy',
    load: () => import('./backup.ts'),
  },
  verify: {
    summary: 'check the whole database, or a backup',
    load: () => import('./verify.ts'),
  },
  prune: {
    summary: 'delete data older than the retention of the project',
    load: () => import('./prune.ts'),
  },
  reseal: {
    summary: 'encrypt the stored secrets with another key',
    load: () => import('./reseal.ts'),
  },
}
