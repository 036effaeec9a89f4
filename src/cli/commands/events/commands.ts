import type { CommandTree } from '../../command.ts'

/** The commands of `upshot events`. */
export const EVENTS_COMMANDS: CommandTree = {
  list: { summary: 'list the newest events', load: () => import('./list.ts') },
  show: {
    summary: 'show an event with its content, deliveries and runs',
    load: () => import('./show.ts'),
  },
  match: {
    summary: 'ask which workflows an event would start, and why not the others',
    load: () => import('./match.ts'),
  },
  replay: {
    summary: 'run workflows again on one or many stored events',
    load: () => import('./replay.ts'),
  },
  rehearse: {
    summary: 'play an event in a sandbox made for it, with real effects there',
    load: () => import('./rehearse/rehearse.ts'),
  },
  tail: { summary: 'follow events as they arrive', load: () => import('./tail.ts') },
}

/** The commands of `upshot types`. */
export const TYPES_COMMANDS: CommandTree = {
  generate: {
    summary: 'write a schema for each event type from the events that came',
    load: () => import('./schemas/generate.ts'),
  },
  check: {
    summary: 'compare the schemas of workflows with the events that came',
    load: () => import('./schemas/check.ts'),
  },
}
