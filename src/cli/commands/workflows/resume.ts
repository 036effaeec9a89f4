import type { Command } from '@commander-js/extra-typings'
import { withStore } from '../../open/open-project.ts'
import { confirm } from '../../terminal/confirm.ts'
import type { Output } from '../../terminal/output.ts'
import { showProgress } from '../../terminal/progress.ts'
import { requireWorkflow } from './workflow-view.ts'

/** Runs of one commit. */
const SLICE = 500

/** `upshot workflows resume <id>`: what was held goes on, oldest first. */
export function define(command: Command, out: Output): void {
  command.argument('<id>', 'the workflow').action((id) =>
    withStore(async (store) => {
      const { held } = await requireWorkflow(store, id)
      if (out.given.dryRun) {
        await confirm(out, { will: `resume the workflow ${id} and its ${held} held runs` })
        return out.result({ workflow: id, dryRun: true, held }, () => [`${held} held runs would go on.`])
      }
      const wasPaused = await store.resumeWorkflow(id)
      using progress = showProgress(out, { title: 'Runs let go', total: held, unit: 'count' })
      let released = 0
      for (let count = -1; count !== 0; released += count) {
        count = await store.releaseHeldRuns(id, SLICE)
        progress.set(Math.min(held, released + count))
      }
      out.result({ workflow: id, changed: wasPaused, released }, () => [
        `The workflow ${id} ${wasPaused ? 'goes on' : 'was not paused'}; ${released} held runs were let go.`,
      ])
    }),
  )
}
