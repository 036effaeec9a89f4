import { DEFAULT_ACCOUNT } from '../../core/service/account.ts'
import type { ReadStore } from '../../core/store/store.ts'
import type { LimiterState } from '../../files/index.ts'
import type { Config } from '../../project/config/load-config.ts'

interface BlockedKey {
  account: string
  /** Its last four characters. */
  key: string
  /** Epoch milliseconds before which nothing is sent with it. */
  until: number
}

/** The keys of accounts that have to wait because the service said so. */
export async function listBlockedKeys(
  store: Pick<ReadStore, 'listLimits' | 'listAccounts'>,
  { service }: Pick<Config, 'service'>,
  now: number,
): Promise<BlockedKey[]> {
  const limits = (await store.listLimits()).map(({ key, state }) => [key, JSON.parse(state) as LimiterState] as const)
  const blocked = new Map(limits.filter(([, { blockedUntil }]) => blockedUntil > now))
  if (blocked.size === 0) return []
  const { Secret } = await import('../../files/index.ts')
  const own = service.kind === 'real' ? [{ ...service, name: DEFAULT_ACCOUNT }] : []
  return [...own, ...(await store.listAccounts())].flatMap(({ name, apiKey, fallbackKey }) =>
    [apiKey, fallbackKey].flatMap((text) => {
      const key = text === null ? null : new Secret(text)
      const until = key === null ? undefined : blocked.get(key.fingerprint())?.blockedUntil
      return until === undefined ? [] : [{ account: name, key: `${key}`, until }]
    }),
  )
}
