import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import { withStore } from '../../open/open-project.ts'
import { confirm } from '../../terminal/confirm.ts'
import type { Output } from '../../terminal/output.ts'
import { describeAccount } from './account-view.ts'
import { findAccount } from './find-account.ts'

/** `upshot accounts remove <name>`: forgets its keys; refused while an endpoint uses it. */
export function define(command: Command, out: Output): void {
  command.argument('<name>', 'the account').action((name) =>
    withStore(async (store) => {
      const account = await findAccount(store, name)
      if (account === null) {
        throw new UpshotError('invalid_request', 'The account "default" is the one that the environment names.', {
          details: { fix: 'Take SERVICE_BASE_URL and the rest out of the environment instead.' },
        })
      }
      const { endpoints } = describeAccount(account, await store.listEndpoints())
      const isMeant =
        // The store refuses it then, whatever is said here.
        endpoints.length > 0 ||
        (await confirm(out, {
          will: `remove the account "${name}" with its keys`,
          things: ['runs of its events that are not finished can call its API no more', 'its events and runs stay'],
        }))
      if (isMeant) await store.removeAccount(name)
      out.result({ name, removed: isMeant }, () => [isMeant ? `Account "${name}" is removed.` : 'Nothing was removed.'])
    }),
  )
}
