import type { Endpoint } from '../../../core/incoming/endpoint.ts'
import { type Account, DEFAULT_ACCOUNT, type Plan } from '../../../core/service/account.ts'
import { STORAGES, type StorageName } from '../../../core/service/storage.ts'
import { isoTime } from '../../../core/time.ts'
import type { Config } from '../../../project/config/load-config.ts'
import type { RunningApp } from '../../open/running-app.ts'

/** An account without its keys. */
export interface AccountView {
  name: string
  /** Null for the sandbox while no app is running. */
  baseUrl: string | null
  plan: Plan
  storages: Record<StorageName, string>
  /** Whether a second key is tried when the first is refused. */
  hasFallbackKey: boolean
  from: 'environment' | 'sandbox' | 'accounts add'
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
  const from = 'accounts add'
  return {
    name,
    baseUrl,
    plan,
    storages,
    hasFallbackKey,
    from,
    createdAt: isoTime(createdAt),
    endpoints: usersOf(name, endpoints),
  }
}

/** The account `default` for JSON: of the environment, else of the sandbox. */
export function describeDefault(
  { service }: Pick<Config, 'service'>,
  app: RunningApp | null,
  endpoints: readonly Endpoint[],
): AccountView {
  const users = { createdAt: null, hasFallbackKey: false, endpoints: usersOf(DEFAULT_ACCOUNT, endpoints) }
  if (service.kind === 'real') {
    const { baseUrl, plan, storages } = service
    return { name: DEFAULT_ACCOUNT, baseUrl, plan, storages, from: 'environment', ...users }
  }
  const [storage_a, storage_b, storage_c] = STORAGES
  const storages = { storage_a, storage_b, storage_c }
  const baseUrl = app?.sandbox?.baseUrl ?? null
  return { name: DEFAULT_ACCOUNT, baseUrl, plan: 'enterprise', storages, from: 'sandbox', ...users }
}

function usersOf(account: string, endpoints: readonly Endpoint[]): string[] {
  return endpoints.filter((endpoint) => endpoint.account === account).map(({ name }) => name)
}

/** An account for a person, one fact per line. */
export function formatAccount({ baseUrl, plan, storages, hasFallbackKey, endpoints, from }: AccountView): string[] {
  const facts: [string, string][] = [
    ['from', from],
    ['base URL', baseUrl ?? '(the sandbox, while the app is running)'],
    ['plan', typeof plan === 'number' ? `${plan} requests per minute` : plan],
    ['storages', STORAGES.map((name) => storages[name]).join(', ')],
    ['key', hasFallbackKey ? 'one, with a fallback key' : 'one'],
    ['endpoints', endpoints.length === 0 ? 'none' : endpoints.join(', ')],
  ]
  return facts.map(([name, value]) => `  ${name.padEnd(9)} ${value}`)
}
