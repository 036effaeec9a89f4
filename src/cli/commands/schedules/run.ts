import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import { systemClock } from '../../../core/time.ts'
import { withStore } from '../../open/open-project.ts'
import { confirm } from '../../terminal/confirm.ts'
import type { Output } from '../../terminal/output.ts'
import { requireSchedule } from '../workflows/workflow-view.ts'

/**
 * `upshot schedules run <workflow>`: a tick now, by hand. It waits for one that is at work, unless
 * the workflow allows both.
 */
export function define(command: Command, out: Output): void {
  command.argument('<workflow>', 'a workflow with a cron line').action((workflow) =>
    withStore(async (store) => {
      const { trigger } = await requireSchedule(store, workflow)
      if (out.given.dryRun) {
        await confirm(out, { will: `make a tick of ${workflow}` })
        return out.result({ workflow, dryRun: true }, () => [`A tick of ${workflow} would be made.`])
      }
      const now = systemClock.now()
      const overlap = trigger.overlap === 'allow' ? 'allow' : 'queue'
      const run = await store.recordTick(workflow, { scheduledFor: now, missed: 0 }, now, { overlap, isManual: true })
      if (run === null) {
        throw new UpshotError('conflict', `There is a tick of ${workflow} at this very moment.`, {
          details: { fix: 'Run the same command again.' },
        })
      }
      out.result({ workflow, run, scheduledFor: new Date(now).toISOString() }, () => [run])
      out.note(`See what it does: upshot runs show ${run}`)
    }),
  )
}
