import type { CommandTree } from '../../command.ts'

/** The commands of `upshot runs`. */
export const RUNS_COMMANDS: CommandTree = {
  list: { summary: 'list the newest runs', load: () => import('./list.ts') },
  summary: {
    summary: 'group failed runs by their error, with counts, first and last moment',
    load: () => import('./summary.ts'),
  },
  show: { summary: 'show a run with its steps and failed attempts', load: () => import('./show.ts') },
  retry: {
    summary: 'retry failed or canceled runs from the step that failed',
    load: () => import('./retry.ts'),
  },
  resolve: {
    summary: 'mark failed runs as resolved, so that they need nobody any more',
    load: () => import('./resolve.ts'),
  },
  fork: {
    summary: 'start a new run that keeps the results before a given step',
    load: () => import('./fork.ts'),
  },
  test: { summary: 'write a test from a run, with its answers beside it', load: () => import('./tests/test.ts') },
  resume: { summary: 'resume runs that wait for a person', load: () => import('./resume.ts') },
  cancel: { summary: 'cancel unfinished runs', load: () => import('./cancel.ts') },
  tail: { summary: 'follow runs as their states change', load: () => import('./tail.ts') },
}
