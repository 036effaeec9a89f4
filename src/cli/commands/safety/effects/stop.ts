import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import { describeScope } from '../../../../core/safety/stop.ts'
import type { Cli } from '../../../command.ts'
import { call } from '../../../open/operations.ts'
import { refrain } from '../../../operate/act-command.ts'
import { addScope, toScope } from './stop-scope.ts'

/** `upshot effects stop --reason`: no delete and no `once` step begins after its commit. */
export function define(command: Command, { out, project }: Cli): void {
  addScope(command)
    .addHelpText('after', '\nIt holds in every process and over restarts, until "upshot effects resume".')
    .action((choice) =>
      project.withOperations(async (operations) => {
        const scope = toScope(choice)
        const what = describeScope(scope)
        if (out.given.dryRun) return refrain(out, `stop ${what}`)
        const { reason } = project.operator
        if (reason === null) {
          throw new UpshotError('invalid_request', 'A stop needs a reason, which its runs show meanwhile.', {
            details: { fix: 'Add --reason "…".' },
          })
        }
        out.result(await call(operations, 'POST /effects/stop', { body: { ...scope, reason } }), () => [
          `Stopped ${what}.`,
        ])
        out.note('Let them go on with "upshot effects resume".')
      }),
    )
}
