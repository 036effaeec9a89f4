import type { CommandTree } from '../../../command.ts'

/** The commands of `upshot types`. */
export const TYPES_COMMANDS: CommandTree = {
  generate: {
    summary: 'write a schema for each event type from the events that came',
    load: () => import('./generate.ts'),
  },
  check: {
    summary: 'compare the schemas of workflows with the events that came',
    load: () => import('./check.ts'),
  },
}
