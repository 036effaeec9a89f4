import type { Endpoint } from '../../../core/incoming/endpoint.ts'
import type { Account, Plan } from '../../../core/service/account.ts'
import { STORAGES, type StorageName } from '../../../core/service/storage.ts'
import { isoTime } from '../../../core/time.ts'

/** An account without its keys. */
interface AccountView {
  name: string
  /** Null for the sandbox while no app is running. */
  baseUrl: string | null
  plan: Plan
  storages: Partial<Record<StorageName, string | undefined>>
  /** Whether a second key is tried when the first is refused. */
  hasFallbackKey: boolean
  keeper: 'environment' | 'sandbox' | null
  /** Null for the account `default`. */
  createdAt: string | null
  /** Names of the endpoints that use it. */
  endpoints: string[]
}

/** An added account for JSON. */
export function describeAccount(
  { name, baseUrl, plan, storages, fallbackKey, createdAt }: Account,
  endpoints: readonly Endpoint[],
): AccountView {
  const hasFallbackKey = fallbackKey !== null
  return {
    name,
    baseUrl,
    plan,
    storages,
    hasFallbackKey,
    keeper: null,
    createdAt: isoTime(createdAt),
    endpoints: usersOf(name, endpoints),
  }
}

function usersOf(account: string, endpoints: readonly Endpoint[]): string[] {
  return endpoints.filter((endpoint) => endpoint.account === account).map(({ name }) => name)
}

/** An account for a person, one fact per line. */
export function formatAccount({ baseUrl, plan, storages, hasFallbackKey, endpoints, keeper }: AccountView): string[] {
  const facts: [string, string][] = [
    ['from', keeper ?? 'accounts add'],
    ['base URL', baseUrl ?? '(the sandbox, while the app is running)'],
    ['plan', typeof plan === 'number' ? `${plan} requests per minute` : plan],
    ['storages', STORAGES.map((name) => storages[name]).join(', ')],
    ['key', hasFallbackKey ? 'one, with a fallback key' : 'one'],
    ['endpoints', endpoints.length === 0 ? 'none' : endpoints.join(', ')],
  ]
  return facts.map(([name, value]) => `  ${name.padEnd(9)} ${value}`)
}
