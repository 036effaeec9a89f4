import type { CommandTree } from '../../command.ts'

/** The commands of `upshot schedules`. */
export const SCHEDULES_COMMANDS: CommandTree = {
  list: {
    summary: 'list the schedules with their last and next times',
    load: () => import('./list.ts'),
  },
  run: { summary: 'run a scheduled workflow now', load: () => import('./run.ts') },
  pause: { summary: 'pause a schedule', load: () => import('./pause.ts') },
  resume: { summary: 'resume a paused schedule', load: () => import('./resume.ts') },
}
