import type { Command } from '@commander-js/extra-typings'
import { describeScope } from '../../../../core/safety/stop.ts'
import type { Cli } from '../../../command.ts'
import { call } from '../../../open/operations.ts'
import { refrain } from '../../../operate/act-command.ts'
import { addScope, toScope } from './stop-scope.ts'

/** `upshot effects resume`: ends a stop and wakes the runs that it holds. */
export function define(command: Command, { out, project }: Cli): void {
  addScope(command).action((choice) =>
    project.withOperations(async (operations) => {
      const scope = toScope(choice)
      const what = describeScope(scope)
      if (out.given.dryRun) return refrain(out, `let ${what} go on`)
      const answer = await call(operations, 'POST /effects/resume', { body: scope })
      out.result(answer, () => [`Resumed ${what}; ${answer.woken} runs go on.`])
    }),
  )
}
