import { type Account, planAccount } from '../../core/service/account.ts'
import { STORAGES } from '../../core/service/storage.ts'
import type { Store } from '../../core/store/store.ts'

/** Adds accounts by name. Their calls go to the sandbox, so address and key are never used. */
export async function addAccounts(
  store: Pick<Store, 'saveAccount'>,
  names: readonly string[],
  now: number,
): Promise<void> {
  const storages = Object.fromEntries(STORAGES.map((storage) => [storage, storage])) as Account['storages']
  for (const name of names) {
    const access = { baseUrl: 'http://127.0.0.1', apiKey: 'sk_sandbox_testbed', fallbackKey: null }
    await store.saveAccount(planAccount({ name, ...access, plan: 'enterprise', storages }, now))
  }
}
