import type { CommandTree } from '../../command.ts'

/** The commands of `upshot audit`. */
export const AUDIT_COMMANDS: CommandTree = {
  list: { summary: 'list who did what, from where and why, newest first', load: () => import('./list.ts') },
}
