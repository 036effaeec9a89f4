import type { CommandTree } from '../../command.ts'

/** The commands of `upshot alerts`. */
export const ALERTS_COMMANDS: CommandTree = {
  list: { summary: 'list the rules, and what is wrong now', load: () => import('./alerts/list.ts') },
  test: { summary: 'send a test message to the channels of a rule', load: () => import('./alerts/test.ts') },
}
