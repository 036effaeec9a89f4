import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../command.ts'
import { confirm } from '../../terminal/confirm.ts'
import { showProgress } from '../../terminal/progress.ts'
import { requireWorkflow } from './workflow-view.ts'

/** Runs that are released per commit. */
const SLICE = 500

/** `upshot workflows resume <id>`: releases its held runs, oldest first. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<id>', 'id of the workflow').action((id) =>
    project.withStore(async (store) => {
      const { held } = await requireWorkflow(store, id)
      if (out.given.dryRun) {
        await confirm(out, { will: `resume the workflow ${id} and its ${held} held runs` })
        return out.result({ workflow: id, dryRun: true, held }, () => [`${held} held runs would be released.`])
      }
      const wasPaused = await store.resumeWorkflow(id)
      using progress = showProgress(out, { title: 'Runs released', total: held, unit: 'count' })
      let released = 0
      for (let count = -1; count !== 0; released += count) {
        count = await store.releaseHeldRuns(id, SLICE)
        progress.set(Math.min(held, released + count))
      }
      out.result({ workflow: id, changed: wasPaused, released }, () => [
        `The workflow ${id} ${wasPaused ? 'is resumed' : 'was not paused'}; ${released} held runs were released.`,
      ])
    }),
  )
}
