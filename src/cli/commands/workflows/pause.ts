import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { confirm } from '../../terminal/confirm.ts'
import { requireWorkflow } from './workflow-view.ts'

/** Runs that are held per commit. */
const SLICE = 500

/** `upshot workflows pause <id>`: holds its runs until it is resumed. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<id>', 'id of the workflow')
    .addHelpText('after', '\nA run in progress continues until it ends or waits. Events and ticks are still recorded.')
    .action((id) =>
      project.withStore(async (store) => {
        await requireWorkflow(store, id)
        if (out.given.dryRun) {
          await confirm(out, { will: `pause the workflow ${id}` })
          return out.result({ workflow: id, dryRun: true }, () => [`The workflow ${id} would be paused.`])
        }
        const isNew = await store.pauseWorkflow(id, commandClock.now())
        while ((await store.holdRuns(id, SLICE)) > 0);
        const { pausedAt, held } = await requireWorkflow(store, id)
        const since = pausedAt === null ? null : new Date(pausedAt).toISOString()
        out.result({ workflow: id, pausedAt: since, held, changed: isNew }, () => [
          `The workflow ${id} ${isNew ? 'is now paused' : 'was already paused'}; ${held} of its runs are held.`,
        ])
        out.note(`Resume it with "upshot workflows resume ${id}".`)
      }),
    )
}
