import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import { describeScope } from '../../../../core/safety/stop.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { confirm } from '../../../terminal/confirm.ts'
import { addScope, toScope } from './stop-scope.ts'

/** `upshot effects stop --reason`: no delete and no `once` step begins after its commit. */
export function define(command: Command, { out, project }: Cli): void {
  addScope(command)
    .addHelpText('after', '\nIt holds in every process and over restarts, until "upshot effects resume".')
    .action((choice) =>
      project.withStore(async (store) => {
        const scope = toScope(choice)
        const what = describeScope(scope)
        if (out.given.dryRun) {
          await confirm(out, { will: `stop ${what}` })
          return out.result({ ...scope, dryRun: true }, () => ['Nothing was stopped.'])
        }
        const { actor, reason } = project.operator
        if (reason === null) {
          throw new UpshotError('invalid_request', 'A stop needs a reason, which its runs show meanwhile.', {
            details: { fix: 'Add --reason "…".' },
          })
        }
        const changed = await store.stopEffects({ ...scope, since: commandClock.now(), actor, reason })
        out.result({ ...scope, changed }, () => [`Stopped ${what}${changed ? '' : '; they were stopped already'}.`])
        out.note('Let them go on with "upshot effects resume".')
      }),
    )
}
