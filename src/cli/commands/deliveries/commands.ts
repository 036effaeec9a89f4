import type { CommandTree } from '../../command.ts'

/** The commands of `upshot deliveries`. */
export const DELIVERIES_COMMANDS: CommandTree = {
  list: {
    summary: 'list the newest deliveries with their verdicts',
    load: () => import('./list.ts'),
  },
  show: {
    summary: 'show a delivery: its verdict and reason, its event and runs',
    load: () => import('./show.ts'),
  },
  replay: {
    summary: 'send the bytes of an accepted delivery again, with a new signature',
    load: () => import('./replay.ts'),
  },
}
