import type { CommandTree } from '../../command.ts'

/** The commands of `upshot workflows`. */
export const WORKFLOWS_COMMANDS: CommandTree = {
  list: { summary: 'list the workflows with their triggers', load: () => import('./list.ts') },
  show: { summary: 'show a workflow with its newest runs', load: () => import('./show.ts') },
  shadow: { summary: 'show what its shadow would do otherwise', load: () => import('./shadow/shadow.ts') },
  promote: { summary: 'put the shadow of a workflow in its place', load: () => import('./shadow/promote.ts') },
  start: { summary: 'start a callable workflow with an input', load: () => import('./start.ts') },
  pause: { summary: 'pause a workflow and hold its runs', load: () => import('./pause.ts') },
  remove: { summary: 'remove a workflow whose module is gone', load: () => import('./remove.ts') },
  resume: { summary: 'resume a workflow and release its held runs, oldest first', load: () => import('./resume.ts') },
}
