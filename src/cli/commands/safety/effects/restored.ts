import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { confirm } from '../../../terminal/confirm.ts'

/** `upshot effects restored --reason`: says that the database was restored from a backup. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .addHelpText(
      'after',
      '\nThe chain then accepts anchors of what the backup did not have. Every verification names the restoration.',
    )
    .action(() =>
      project.withStore(async (store) => {
        const { actor, reason } = project.operator
        if (reason === null) {
          throw new UpshotError('invalid_request', 'A restoration needs a reason, which every verification shows.', {
            fix: 'Add --reason "…".',
          })
        }
        if (!(await confirm(out, { will: 'accept that the ledger lost its newest rows to a backup' }))) {
          return out.result({ seal: null }, () => ['Nothing was changed.'])
        }
        const { number } = await store.noteRestored({ actor, reason, now: commandClock.now() })
        out.result({ seal: number }, () => [`Seal ${number} says that the database was restored.`])
      }),
    )
}
