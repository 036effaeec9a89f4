import { UpshotError } from '../../../core/errors.ts'
import { type Account, DEFAULT_ACCOUNT } from '../../../core/service/account.ts'
import type { ReadStore } from '../../../core/store/store.ts'

/** The stored account; null for `default`. Throws `not_found`, which lists the names. */
export async function findAccount(
  store: Pick<ReadStore, 'findAccount' | 'listAccounts'>,
  name: string,
): Promise<Account | null> {
  if (name === DEFAULT_ACCOUNT) return null
  const account = await store.findAccount(name)
  if (account !== null) return account
  const known = [DEFAULT_ACCOUNT, ...(await store.listAccounts()).map((each) => each.name)].join(', ')
  throw new UpshotError('not_found', `There is no account named "${name}".`, {
    details: { fix: `Create it with "upshot accounts add ${name}", or choose one of: ${known}.` },
  })
}
