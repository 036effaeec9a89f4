import type { Command } from '@commander-js/extra-typings'
import { systemClock } from '../../../core/time.ts'
import { withStore } from '../../open/open-project.ts'
import { confirm } from '../../terminal/confirm.ts'
import type { Output } from '../../terminal/output.ts'
import { requireSchedule } from '../workflows/workflow-view.ts'

/** `upshot schedules resume <workflow>`: ticks are made again, from now on. */
export function define(command: Command, out: Output): void {
  command.argument('<workflow>', 'a workflow with a cron line').action((workflow) =>
    withStore(async (store) => {
      await requireSchedule(store, workflow)
      if (out.given.dryRun) {
        await confirm(out, { will: `resume the schedule of ${workflow}` })
        return out.result({ workflow, dryRun: true }, () => [`The schedule of ${workflow} would resume.`])
      }
      const changed = await store.pauseSchedule(workflow, false, systemClock.now())
      out.result({ workflow, changed }, () => [
        `The schedule of ${workflow} makes ticks again${changed ? '' : ', as before'}.`,
      ])
    }),
  )
}
