import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { confirm } from '../../../terminal/confirm.ts'

/** `upshot approvers remove <name>`: later words do not count; earlier ones stay in the record. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<name>', 'name of the person').action((name) =>
    project.withStore(async (store) => {
      const isConfirmed = await confirm(out, { will: `end the right of "${name}" to decide` })
      if (isConfirmed && !(await store.removeApprover(name, commandClock.now()))) {
        throw new UpshotError('not_found', `There is no approver "${name}".`, {
          details: { fix: 'List them with "upshot approvers list".' },
        })
      }
      out.result({ name, removed: isConfirmed }, () => [
        isConfirmed ? `"${name}" may not decide any more.` : 'Nothing changed.',
      ])
    }),
  )
}
