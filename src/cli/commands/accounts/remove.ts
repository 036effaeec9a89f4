import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import type { Cli } from '../../command.ts'
import { confirm } from '../../terminal/confirm.ts'
import { describeAccount } from './account-view.ts'
import { findAccount } from './find-account.ts'

/** `upshot accounts remove <name>`: removes it with its keys; refused while an endpoint uses it. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<name>', 'name of the account').action((name) =>
    project.withStore(async (store) => {
      const account = await findAccount(store, name)
      if (account === null) {
        throw new UpshotError(
          'invalid_request',
          'The account "default" is set by the environment, so it cannot be removed here.',
          {
            details: { fix: 'Remove SERVICE_BASE_URL and the other SERVICE_ variables from the environment.' },
          },
        )
      }
      const { endpoints } = describeAccount(account, await store.listEndpoints())
      const isConfirmed =
        // The store refuses to remove an account in use, so nobody is asked.
        endpoints.length > 0 ||
        (await confirm(out, {
          will: `remove the account "${name}" and its keys`,
          things: ['unfinished runs of its events can no longer call its API', 'its events and runs are kept'],
        }))
      if (isConfirmed) await store.removeAccount(name)
      out.result({ name, removed: isConfirmed }, () => [
        isConfirmed ? `Removed the account "${name}".` : 'Nothing was removed.',
      ])
    }),
  )
}
