import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import { planAccount } from '../../../core/service/account.ts'
import type { StorageName } from '../../../core/service/storage.ts'
import { systemClock } from '../../../core/time.ts'
import { withStore } from '../../open/open-project.ts'
import { findRunningApp } from '../../open/running-app.ts'
import { askSecret } from '../../terminal/ask-secret.ts'
import type { Output } from '../../terminal/output.ts'
import { type AccountOptions, addAccountOptions, knownStorages, nameStorages, readKeys } from './account-options.ts'
import { describeAccount, formatAccount } from './account-view.ts'

/** `upshot accounts add <name>`: its key is never shown again. */
export function define(command: Command, out: Output): void {
  addAccountOptions(command.argument('<name>', 'a-z, 0-9 and "-"'))
    .addHelpText('after', HELP)
    .action(async (name, options: AccountOptions) => {
      await withStore(async (store, config) => {
        const { apiKey = await askSecret(out, `API key of account "${name}"`), fallbackKey = null } =
          await readKeys(options)
        if (!apiKey) throw refuse('There is no API key.', 'Add --key-file, --key-stdin or --key-env.')
        const { service } = config
        const standIn = service.kind === 'real' ? service.baseUrl : (await findRunningApp(config))?.sandbox?.baseUrl
        const baseUrl = options.baseUrl ?? standIn
        if (baseUrl === undefined) throw refuse('There is no base URL.', 'Add --base-url.')
        const storages = requireStorages(nameStorages(options, knownStorages(config, apiKey)))
        const plan = options.plan ?? (service.kind === 'real' ? service.plan : 'free')
        const account = planAccount({ name, baseUrl, apiKey, fallbackKey, plan, storages }, systemClock.now())
        if ((await store.findAccount(name)) !== null) {
          throw new UpshotError('conflict', `There is an account named "${name}" already.`, {
            details: { fix: `Choose another name, or change it with "upshot accounts edit ${name}".` },
          })
        }
        if (out.given.dryRun) out.note('Nothing was written: this is what it would be.')
        else await store.saveAccount(account)
        const view = describeAccount(account, await store.listEndpoints())
        out.result(view, () => [`Account "${name}" is added.`, '', ...formatAccount(view)])
        out.note(`Make an endpoint for its events: upshot endpoints add <name> --account ${name}`)
      })
    })
}

const HELP = `
Base URL, plan and storage names that are left out are those of the account that the environment names. The key is read from
one of the --key options; at a terminal it is asked for.`

function requireStorages(storages: Record<StorageName, string | undefined>): Record<StorageName, string> {
  const { storage_a, storage_b, storage_c } = storages
  if (storage_a && storage_b && storage_c) return { storage_a, storage_b, storage_c }
  throw refuse(
    'It is not known how the service writes the names of the three storages.',
    'Add --storage-a, --storage-b and --storage-c.',
  )
}

function refuse(message: string, fix: string): UpshotError {
  return new UpshotError('invalid_request', message, { details: { fix } })
}
