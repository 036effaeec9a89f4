import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import { systemClock } from '../../../core/time.ts'
import type { Cli } from '../../command.ts'
import { confirm } from '../../terminal/confirm.ts'
import { requireSchedule } from '../workflows/workflow-view.ts'

/**
 * `upshot schedules run <workflow>`: a tick now. Its run waits for an unfinished one, unless the
 * schedule has `overlap: 'allow'`.
 */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<workflow>', 'id of a workflow with a cron schedule').action((workflow) =>
    project.withStore(async (store) => {
      const { trigger } = await requireSchedule(store, workflow)
      if (out.given.dryRun) {
        await confirm(out, { will: `run the scheduled workflow ${workflow} now` })
        return out.result({ workflow, dryRun: true }, () => [`The workflow ${workflow} would be run.`])
      }
      const now = systemClock.now()
      const overlap = trigger.overlap === 'allow' ? 'allow' : 'queue'
      const run = await store.recordTick(workflow, { scheduledFor: now, missed: 0 }, now, { overlap, isManual: true })
      if (run === null) {
        throw new UpshotError('conflict', `The workflow ${workflow} already has a tick at this millisecond.`, {
          details: { fix: 'Run the same command again.' },
        })
      }
      out.result({ workflow, run, scheduledFor: new Date(now).toISOString() }, () => [run])
      out.note(`Show the run: upshot runs show ${run}`)
    }),
  )
}
