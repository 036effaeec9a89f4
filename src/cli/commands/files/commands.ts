import type { CommandTree } from '../../command.ts'

/** The commands of `upshot files`. */
export const FILES_COMMANDS: CommandTree = {
  ls: { summary: 'list the entries of a folder', load: () => import('./ls.ts') },
  diff: { summary: 'compare two folders, of one storage or of two', load: () => import('./diff.ts') },
  get: { summary: 'download a file, or continue an interrupted download', load: () => import('./get.ts') },
  rm: { summary: 'delete files, after a confirmation', load: () => import('./rm.ts') },
  url: { summary: 'print a temporary download URL of a file', load: () => import('./url.ts') },
}
