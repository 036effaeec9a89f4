import type { CommandTree } from '../../command.ts'

/** The commands of `upshot events`. */
export const EVENTS_COMMANDS: CommandTree = {
  list: { summary: 'list the newest events', load: () => import('./list.ts') },
  show: {
    summary: 'show an event with its content, deliveries and runs',
    load: () => import('./show.ts'),
  },
  replay: {
    summary: 'run workflows again on one or many stored events',
    load: () => import('./replay.ts'),
  },
  tail: { summary: 'follow events as they arrive', load: () => import('./tail.ts') },
}
