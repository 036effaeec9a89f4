import type { CommandTree } from '../../command.ts'

/** The commands of `upshot events`. */
export const EVENTS_COMMANDS: CommandTree = {
  list: { summary: 'the newest events', load: () => import('./list.ts') },
  show: {
    summary: 'one event with its content, its deliveries and its runs',
    load: () => import('./show.ts'),
  },
  replay: {
    summary: 'run workflows on stored events once more, one or many',
    load: () => import('./replay.ts'),
  },
  tail: { summary: 'events as they come', load: () => import('./tail.ts') },
}
