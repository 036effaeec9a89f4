import type { CommandTree } from '../../command.ts'

/** The commands of `upshot schedules`. */
export const SCHEDULES_COMMANDS: CommandTree = {
  list: {
    summary: 'cron lines with their last and next moments',
    load: () => import('./list.ts'),
  },
  run: { summary: 'make a tick now', load: () => import('./run.ts') },
  pause: { summary: 'make no more ticks', load: () => import('./pause.ts') },
  resume: { summary: 'make ticks again', load: () => import('./resume.ts') },
}
