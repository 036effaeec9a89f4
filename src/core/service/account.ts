import { UpshotError } from '../errors.ts'
import type { CronTrigger } from '../runs/schedule.ts'
import type { StorageName } from './storage.ts'

/** An account of the service: its address, and the key that runs call it with. */
export interface Account {
  /** Chosen by the user; unique. Endpoints refer to it. */
  name: string
  /** Address of the API with its version, such as `https://api.example.com/v1`. */
  baseUrl: string
  apiKey: string
  /** Key to try when the first one is refused, during a rotation; null: none. */
  fallbackKey: string | null
  /** Sets the request limit until the service names its own. */
  plan: Plan
  /** The service's spelling of each storage. */
  storages: Record<StorageName, string>
  /** Epoch milliseconds. */
  createdAt: number
}

/** Name of a plan of the service, or the account's requests per minute. */
export type Plan = 'free' | 'pro' | 'enterprise' | number

/** The account configured by `SERVICE_BASE_URL` and related variables; it has no row. */
export const DEFAULT_ACCOUNT = 'default'

const NAME = /^[a-z0-9][a-z0-9-]{0,39}$/
const API_KEY = /^[\x21-\x7e]+$/

/** True for a text that may name an account. */
export function isAccountName(name: unknown): name is string {
  return typeof name === 'string' && NAME.test(name)
}

/** Completes an account; throws `invalid_request`, and never names a key in its message. */
export function planAccount(given: Omit<Account, 'createdAt'>, now: number): Account {
  const { name, baseUrl, apiKey, fallbackKey } = given
  if (!isAccountName(name)) {
    throw new UpshotError('invalid_request', `"${name}" is not an account name. Use a-z, 0-9 and "-", at most 40.`)
  }
  if (name === DEFAULT_ACCOUNT) {
    throw new UpshotError(
      'invalid_request',
      'The account "default" is the one that SERVICE_BASE_URL and SERVICE_API_KEY name. Choose another name.',
    )
  }
  const keys = fallbackKey === null ? [apiKey] : [apiKey, fallbackKey]
  if (!keys.every((key) => API_KEY.test(key))) {
    throw new UpshotError(
      'invalid_request',
      'The API key is empty, or has a space or another character that no key has.',
    )
  }
  const fault = findKeyFault(given)
  if (fault !== null) throw new UpshotError('invalid_request', fault)
  return { ...given, baseUrl: baseUrl.replace(/\/+$/, ''), createdAt: now }
}

/** A mismatch of key and address that could do harm. */
export type KeyFault = 'sandbox_key_elsewhere' | 'real_key_here' | 'key_in_the_clear'

const KEY_FAULTS = {
  sandbox_key_elsewhere: 'The API key is one of the sandbox, but the base URL is not on this machine.',
  real_key_here: 'The base URL is on this machine, but the API key is not one of the sandbox (sk_sandbox_…).',
  key_in_the_clear: 'The base URL must begin with https://, or the API key would travel in the clear.',
} as const satisfies Record<KeyFault, string>

/** The first fault of an account's keys, as a sentence; null when both may be used. */
export function findKeyFault({
  baseUrl,
  apiKey,
  fallbackKey,
}: Pick<Account, 'baseUrl' | 'apiKey' | 'fallbackKey'>): string | null {
  const url = new URL(baseUrl)
  const keys = fallbackKey === null ? [apiKey] : [apiKey, fallbackKey]
  const fault = keys.map((key) => decideKeyFault(url, key)).find((found) => found !== null)
  return fault ? KEY_FAULTS[fault] : null
}

/**
 * Keeps sandbox keys from the real service, real keys from the sandbox, and all keys from
 * unencrypted connections.
 */
export function decideKeyFault(
  { hostname, protocol }: Pick<URL, 'hostname' | 'protocol'>,
  key: string,
): KeyFault | null {
  const isSandboxKey = key.startsWith('sk_sandbox_')
  if (isSandboxKey && !isLoopback(hostname)) return 'sandbox_key_elsewhere'
  if (!isSandboxKey && isLoopback(hostname)) return 'real_key_here'
  return protocol === 'https:' || isLoopback(hostname) ? null : 'key_in_the_clear'
}

/** True when a URL's host is this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
}

/**
 * The accounts that a moment makes a run for. `known`: the names of all accounts but `default`,
 * asked for only where they matter.
 */
export async function listTickAccounts(
  { accounts }: Pick<CronTrigger, 'accounts'>,
  known: () => Promise<readonly { name: string }[]>,
): Promise<readonly string[]> {
  return accounts === 'each' ? [DEFAULT_ACCOUNT, ...(await known()).map(({ name }) => name)] : accounts
}

/** Requests that may start at once: for every account, or by account. Null: none is set. */
export type BurstSetting = number | Readonly<Record<string, number>> | null

/** The burst of an account; null where it has none. */
export function burstOf(setting: BurstSetting | undefined, account: string): number | null {
  if (setting === undefined || setting === null || typeof setting === 'number') return setting ?? null
  return Object.hasOwn(setting, account) ? (setting[account] ?? null) : null
}
