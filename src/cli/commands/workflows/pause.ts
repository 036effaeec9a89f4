import type { Command } from '@commander-js/extra-typings'
import { systemClock } from '../../../core/time.ts'
import { withStore } from '../../open/open-project.ts'
import { confirm } from '../../terminal/confirm.ts'
import type { Output } from '../../terminal/output.ts'
import { requireWorkflow } from './workflow-view.ts'

/** Runs of one commit. */
const SLICE = 500

/** `upshot workflows pause <id>`: its runs are kept and counted until it is resumed. */
export function define(command: Command, out: Output): void {
  command
    .argument('<id>', 'the workflow')
    .addHelpText(
      'after',
      '\nA run that is at work goes on until it ends or waits. Events and ticks are recorded as ever.',
    )
    .action((id) =>
      withStore(async (store) => {
        await requireWorkflow(store, id)
        if (out.given.dryRun) {
          await confirm(out, { will: `pause the workflow ${id}` })
          return out.result({ workflow: id, dryRun: true }, () => [`The workflow ${id} would be paused.`])
        }
        const isNew = await store.pauseWorkflow(id, systemClock.now())
        while ((await store.holdRuns(id, SLICE)) > 0);
        const { pausedAt, held } = await requireWorkflow(store, id)
        const since = pausedAt === null ? null : new Date(pausedAt).toISOString()
        out.result({ workflow: id, pausedAt: since, held, changed: isNew }, () => [
          `The workflow ${id} ${isNew ? 'is paused' : 'was paused already'}; ${held} of its runs are held.`,
        ])
        out.note(`Let it go on with "upshot workflows resume ${id}".`)
      }),
    )
}
