import type { CommandTree } from '../../command.ts'

/** The commands of `upshot workflows`. */
export const WORKFLOWS_COMMANDS: CommandTree = {
  list: { summary: 'the workflows with what starts them', load: () => import('./list.ts') },
  show: { summary: 'one workflow with its newest runs', load: () => import('./show.ts') },
  pause: { summary: 'keep its runs waiting', load: () => import('./pause.ts') },
  resume: { summary: 'let its runs go on, oldest first', load: () => import('./resume.ts') },
}
