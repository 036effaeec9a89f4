import type { Command } from '@commander-js/extra-typings'
import { requireAccount } from '../../../admin/queries/require-row.ts'
import { UpshotError } from '../../../core/errors.ts'
import { type Account, DEFAULT_ACCOUNT, planAccount } from '../../../core/service/account.ts'
import type { Cli } from '../../command.ts'
import { type AccountOptions, addAccountOptions, nameStorages, readKeys } from './account-options.ts'
import { describeAccount, formatAccount } from './account-view.ts'

/** `upshot accounts edit <name>`: changes the given values and keeps the rest. */
export function define(command: Command, { out, project }: Cli): void {
  addAccountOptions(command.argument('<name>', 'name of the account'))
    .option('--keep-old-key', 'with a new key: keep the old one as the fallback key')
    .option('--no-fallback', 'remove the fallback key')
    .action(async (name, { keepOldKey = false, fallback, ...options }) => {
      if (name === DEFAULT_ACCOUNT) throw refuseDefault()
      if (Object.keys(options).length === 0 && fallback) {
        throw new UpshotError('invalid_request', 'No change was given.', {
          details: { fix: 'Add --base-url, --plan, a --key, --fallback or --storage option, or --no-fallback.' },
        })
      }
      await project.withStore(async (store) => {
        const keys = await readKeys(options)
        const before = await requireAccount(store, name)
        if (before === null) throw refuseDefault()
        const after = planEdit(before, options, {
          ...keys,
          fallbackKey: keys.fallbackKey ?? decideFallback(before, { keepOldKey, fallback }),
        })
        if (out.given.dryRun) out.note('Dry run: nothing was saved. This is what would be saved.')
        else await store.saveAccount(after)
        const view = describeAccount(after, await store.listEndpoints())
        out.result(view, () => [`Changed the account "${name}".`, '', ...formatAccount(view)])
      })
    })
}

function decideFallback(
  { apiKey, fallbackKey }: Account,
  { keepOldKey, fallback }: { keepOldKey: boolean; fallback: boolean },
): string | null {
  if (keepOldKey) return apiKey
  return fallback ? fallbackKey : null
}

function planEdit(
  before: Account,
  options: AccountOptions,
  keys: { apiKey: string | undefined; fallbackKey: string | null },
): Account {
  const named = nameStorages(options, before.storages)
  const { storage_a = '', storage_b = '', storage_c = '' } = named
  const { name, baseUrl, apiKey, plan, createdAt } = before
  return planAccount(
    {
      name,
      baseUrl: options.baseUrl ?? baseUrl,
      apiKey: keys.apiKey ?? apiKey,
      fallbackKey: keys.fallbackKey,
      plan: options.plan ?? plan,
      storages: { storage_a, storage_b, storage_c },
    },
    createdAt,
  )
}

function refuseDefault(): UpshotError {
  return new UpshotError(
    'invalid_request',
    'The account "default" is set by the environment, so it cannot be changed here.',
    {
      details: {
        fix: 'Change SERVICE_BASE_URL, SERVICE_API_KEY and the other SERVICE_ variables, and restart the app.',
      },
    },
  )
}
