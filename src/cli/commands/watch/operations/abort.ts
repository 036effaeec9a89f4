import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { requireOperation } from './show.ts'

/** `upshot operations abort <id>`: ends it after its present slice; what is done stays done. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<id>', 'id of the operation, opr_…, or its beginning').action((given) =>
    project.withStore(async (store) => {
      const { id, status } = await requireOperation(store, given)
      if (!(await store.abortBulk(id, commandClock.now()))) {
        throw new UpshotError('conflict', `Operation ${id} is ${status} already.`)
      }
      const { done, refused } = await requireOperation(store, id)
      out.result({ id, status: 'aborted', done, refused }, () => [`Aborted after ${done}; what is done stays done.`])
    }),
  )
}
