import { UpshotError } from '../errors.ts'
import type { StorageName } from './storage.ts'

/**
 * An account of the service whose events we follow up: where its API is, and the key that runs call
 * it with.
 */
export interface Account {
  /** Chosen by the user; unique. Endpoints name it. */
  name: string
  /** With its version, such as `https://api.example.com/v1`. */
  baseUrl: string
  apiKey: string
  /**
   * The key to try when the first is refused, while one takes the other's place; null when there is
   * none.
   */
  fallbackKey: string | null
  plan: Plan
  /** How the service writes the names of the three storages. */
  storages: Record<StorageName, string>
  createdAt: number
}

/** What the service's plans are called, or the requests per minute that an account may make. */
export type Plan = 'free' | 'pro' | 'enterprise' | number

/** The account that the environment names (`SERVICE_BASE_URL` and the rest); it has no row. */
export const DEFAULT_ACCOUNT = 'default'

const NAME = /^[a-z0-9][a-z0-9-]{0,39}$/
const API_KEY = /^[\x21-\x7e]+$/

/**
 * A complete account from what a user gives; throws `invalid_request`, without a key in its
 * message.
 */
export function planAccount(given: Omit<Account, 'createdAt'>, now: number): Account {
  const { name, baseUrl, apiKey, fallbackKey } = given
  if (!NAME.test(name)) {
    throw new UpshotError('invalid_request', `"${name}" is no account name. Use a-z, 0-9 and "-", 40 at most.`)
  }
  if (name === DEFAULT_ACCOUNT) {
    throw new UpshotError(
      'invalid_request',
      'The account "default" is the one that SERVICE_BASE_URL and SERVICE_API_KEY name. Choose another name.',
    )
  }
  const keys = fallbackKey === null ? [apiKey] : [apiKey, fallbackKey]
  if (!keys.every((key) => API_KEY.test(key))) {
    throw new UpshotError('invalid_request', 'The API key is empty or holds a space or another unfit character.')
  }
  const fault = findKeyFault(given)
  if (fault !== null) throw new UpshotError('invalid_request', fault)
  return { ...given, baseUrl: baseUrl.replace(/\/+$/, ''), createdAt: now }
}

/** Why a key may not be used at an address; each keeps a mistake from doing harm. */
export type KeyFault = 'sandbox_key_elsewhere' | 'real_key_here' | 'key_in_the_clear'

const KEY_FAULTS = {
  sandbox_key_elsewhere: 'The API key is one of the sandbox, but the base URL is not on this machine.',
  real_key_here: 'The base URL is on this machine, but the API key is not one of the sandbox (sk_sandbox_…).',
  key_in_the_clear: 'The base URL must begin with https://, or the API key would travel in the clear.',
} as const satisfies Record<KeyFault, string>

/**
 * What is wrong with the keys of an account, in a sentence; null when it may be called with both.
 */
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
 * Keeps a key of the sandbox from the real service, a real key from the sandbox, and any key from
 * open wires.
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

/** Whether a URL's host is this machine itself. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
}
