import type { Command } from '@commander-js/extra-typings'
import { systemClock } from '../../../core/time.ts'
import { withStore } from '../../open/open-project.ts'
import { confirm } from '../../terminal/confirm.ts'
import type { Output } from '../../terminal/output.ts'
import { requireSchedule } from '../workflows/workflow-view.ts'

/**
 * `upshot schedules pause <workflow>`: no ticks are made; moments that pass are counted and not
 * caught up with.
 */
export function define(command: Command, out: Output): void {
  command.argument('<workflow>', 'a workflow with a cron line').action((workflow) =>
    withStore(async (store) => {
      await requireSchedule(store, workflow)
      if (out.given.dryRun) {
        await confirm(out, { will: `pause the schedule of ${workflow}` })
        return out.result({ workflow, dryRun: true }, () => [`The schedule of ${workflow} would pause.`])
      }
      const changed = await store.pauseSchedule(workflow, true, systemClock.now())
      out.result({ workflow, changed }, () => [
        `The schedule of ${workflow} makes no ticks now${changed ? '' : ', as before'}.`,
      ])
    }),
  )
}
