import type { CommandTree } from '../../command.ts'

/** The commands of `upshot deliveries`. */
export const DELIVERIES_COMMANDS: CommandTree = {
  list: {
    summary: 'the newest deliveries with their verdicts',
    load: () => import('./list.ts'),
  },
  show: {
    summary: 'one delivery: its verdict and why, its event and runs',
    load: () => import('./show.ts'),
  },
  replay: {
    summary: 'send the bytes of one that was taken again, freshly signed',
    load: () => import('./replay.ts'),
  },
}
