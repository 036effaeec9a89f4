import type { CommandTree } from '../../command.ts'

/** The commands of `upshot runs`. */
export const RUNS_COMMANDS: CommandTree = {
  list: { summary: 'the newest runs', load: () => import('./list.ts') },
  show: { summary: 'one run with its steps and failed attempts', load: () => import('./show.ts') },
  retry: {
    summary: 'go on with failed or canceled runs from the step that failed',
    load: () => import('./retry.ts'),
  },
  fork: {
    summary: 'a new run that keeps the results of the steps before a given one',
    load: () => import('./fork.ts'),
  },
  resume: { summary: 'go on with runs that wait for a person', load: () => import('./resume.ts') },
  cancel: { summary: 'end runs that are not finished', load: () => import('./cancel.ts') },
  tail: { summary: 'runs as their states change', load: () => import('./tail.ts') },
}
