import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { confirm } from '../../terminal/confirm.ts'
import { requireSchedule } from '../workflows/workflow-view.ts'

/** `upshot schedules resume <workflow>`: starts its ticks again, from now on. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<workflow>', 'id of a workflow with a cron schedule').action((workflow) =>
    project.withStore(async (store) => {
      await requireSchedule(store, workflow)
      if (out.given.dryRun) {
        await confirm(out, { will: `resume the schedule of ${workflow}` })
        return out.result({ workflow, dryRun: true }, () => [`The schedule of ${workflow} would be resumed.`])
      }
      const changed = await store.pauseSchedule(workflow, false, commandClock.now())
      out.result({ workflow, changed }, () => [
        `The schedule of ${workflow} ${changed ? 'is now active' : 'was already active'}.`,
      ])
    }),
  )
}
