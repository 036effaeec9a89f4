import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import { type Account, DEFAULT_ACCOUNT, planAccount } from '../../../core/service/account.ts'
import { withStore } from '../../open/open-project.ts'
import type { Output } from '../../terminal/output.ts'
import { type AccountOptions, addAccountOptions, nameStorages, readKeys } from './account-options.ts'
import { describeAccount, formatAccount } from './account-view.ts'
import { findAccount } from './find-account.ts'

/** `upshot accounts edit <name>`: changes what is named, keeps the rest. */
export function define(command: Command, out: Output): void {
  addAccountOptions(command.argument('<name>', 'the account'))
    .option('--keep-old-key', 'after a new key, try the old one when the new one is refused')
    .option('--no-fallback', 'forget the key to try when the first is refused')
    .action(async (name, { keepOldKey = false, fallback, ...options }) => {
      if (name === DEFAULT_ACCOUNT) throw refuseDefault()
      if (Object.keys(options).length === 0 && fallback) {
        throw new UpshotError('invalid_request', 'No change is named.')
      }
      await withStore(async (store) => {
        const keys = await readKeys(options)
        const before = await findAccount(store, name)
        if (before === null) throw refuseDefault()
        const after = planEdit(before, options, {
          ...keys,
          fallbackKey: keys.fallbackKey ?? decideFallback(before, { keepOldKey, fallback }),
        })
        if (out.given.dryRun) out.note('Nothing was written: this is what it would be.')
        else await store.saveAccount(after)
        const view = describeAccount(after, await store.listEndpoints())
        out.result(view, () => [`Account "${name}" is changed.`, '', ...formatAccount(view)])
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
  return new UpshotError('invalid_request', 'The account "default" is the one that the environment names.', {
    details: { fix: 'Change SERVICE_BASE_URL, SERVICE_API_KEY and the rest, and start the app again.' },
  })
}
