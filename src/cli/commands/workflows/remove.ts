import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { confirm } from '../../terminal/confirm.ts'
import { requireWorkflow } from './workflow-view.ts'

/** `upshot workflows remove <id>`: its events start no run any more; its runs are kept. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<id>', 'id of a workflow whose module is gone').action((id) =>
    project.withStore(async (store) => {
      await requireWorkflow(store, id)
      const isConfirmed = await confirm(out, {
        will: `remove the workflow ${id}`,
        things: ['its events start no run from now on', 'its runs are kept; unfinished ones wait for its module'],
      })
      if (isConfirmed) await store.removeWorkflow(id, commandClock.now())
      out.result({ workflow: id, removed: isConfirmed }, () => [
        isConfirmed ? `Removed the workflow ${id}.` : 'Nothing was removed.',
      ])
    }),
  )
}
