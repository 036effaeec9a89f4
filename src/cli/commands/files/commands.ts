import type { CommandTree } from '../../command.ts'

/** The commands of `upshot files`. */
export const FILES_COMMANDS: CommandTree = {
  ls: { summary: 'the entries of a folder', load: () => import('./ls.ts') },
  get: { summary: 'download a file, or go on where it broke off', load: () => import('./get.ts') },
  rm: { summary: 'delete files, after saying which', load: () => import('./rm.ts') },
  url: { summary: 'a temporary address of a file', load: () => import('./url.ts') },
}
