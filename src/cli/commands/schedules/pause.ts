import { actCommand } from '../../operate/act-command.ts'

/** `upshot schedules pause <workflow>`: stops its ticks; those missed are counted, but not run. */
export const define = actCommand('POST /schedules/:workflow/pause', {
  argument: ['workflow', 'id of a workflow with a cron schedule'],
  look: 'GET /schedules/:workflow',
  will: (workflow) => `pause the schedule of ${workflow}`,
  done: (_, workflow, before) =>
    `The schedule of ${workflow} ${before?.pausedAt === null ? 'is now' : 'was already'} paused.`,
})
