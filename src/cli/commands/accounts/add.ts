import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import { planAccount } from '../../../core/service/account.ts'
import type { StorageName } from '../../../core/service/storage.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { findRunningApp } from '../../open/running-app.ts'
import { askSecret } from '../../terminal/ask-secret.ts'
import { type AccountOptions, addAccountOptions, knownStorages, nameStorages, readKeys } from './account-options.ts'
import { describeAccount, formatAccount } from './account-view.ts'

/** `upshot accounts add <name>`: saves an account; its key is never shown. */
export function define(command: Command, { out, project }: Cli): void {
  addAccountOptions(command.argument('<name>', 'name of the new account: a-z, 0-9 and "-"'))
    .addHelpText('after', HELP)
    .action(async (name, options: AccountOptions) => {
      await project.withStore(
        async (store, config) => {
          const { apiKey = await askSecret(out, `API key of account "${name}"`), fallbackKey = null } =
            await readKeys(options)
          if (!apiKey) throw refuse('No API key was given.', 'Add --key-file, --key-stdin or --key-env.')
          const { service } = config
          const standIn = service.kind === 'real' ? service.baseUrl : (await findRunningApp(config))?.sandbox?.baseUrl
          const baseUrl = options.baseUrl ?? standIn
          if (baseUrl === undefined)
            throw refuse('No base URL was given, and no app is running to take it from.', 'Add --base-url.')
          const storages = requireStorages(nameStorages(options, knownStorages(config, apiKey)))
          const plan = options.plan ?? (service.kind === 'real' ? service.plan : 'free')
          const account = planAccount({ name, baseUrl, apiKey, fallbackKey, plan, storages }, commandClock.now())
          if ((await store.findAccount(name)) !== null) {
            throw new UpshotError('conflict', `An account named "${name}" already exists.`, {
              details: { fix: `Choose another name, or change it with "upshot accounts edit ${name}".` },
            })
          }
          if (out.given.dryRun) out.note('Dry run: nothing was saved. This is what would be saved.')
          else await store.saveAccount(account)
          const view = describeAccount(account, await store.listEndpoints())
          out.result(view, () => [`Added the account "${name}".`, '', ...formatAccount(view)])
          out.note(`Create an endpoint for its events: upshot endpoints add <name> --account ${name}`)
        },
        { mayCreate: !out.given.dryRun },
      )
    })
}

const HELP = `
Defaults for base URL, plan and storage names are those of the account "default". Without one of
the --key options, the key is asked for at a terminal.`

function requireStorages(storages: Record<StorageName, string | undefined>): Record<StorageName, string> {
  const { storage_a, storage_b, storage_c } = storages
  if (storage_a && storage_b && storage_c) return { storage_a, storage_b, storage_c }
  throw refuse(
    'The names of the three storages in API calls are not known.',
    'Add --storage-a, --storage-b and --storage-c.',
  )
}

function refuse(message: string, fix: string): UpshotError {
  return new UpshotError('invalid_request', message, { details: { fix } })
}
