import { actCommand } from '../../operate/act-command.ts'

/** `upshot schedules resume <workflow>`: starts its ticks again, from now on. */
export const define = actCommand('POST /schedules/:workflow/resume', {
  argument: ['workflow', 'id of a workflow with a cron schedule'],
  look: 'GET /schedules/:workflow',
  will: (workflow) => `resume the schedule of ${workflow}`,
  done: (_, workflow, before) =>
    `The schedule of ${workflow} ${before?.pausedAt !== null ? 'is now' : 'was already'} active.`,
})
