import type { CommandTree } from '../../command.ts'

/** The commands of `upshot operations`. */
export const OPERATIONS_COMMANDS: CommandTree = {
  list: { summary: 'list the operations on many runs or events', load: () => import('./operations/list.ts') },
  show: {
    summary: 'show an operation: its progress, and what was refused',
    load: () => import('./operations/show.ts'),
  },
  abort: { summary: 'end an operation; what is done stays done', load: () => import('./operations/abort.ts') },
}

/** The commands of `upshot alerts`. */
export const ALERTS_COMMANDS: CommandTree = {
  list: { summary: 'list the alert rules, and what is wrong now', load: () => import('./alerts/list.ts') },
  test: { summary: 'send a test message to the channels of a rule', load: () => import('./alerts/test.ts') },
}
