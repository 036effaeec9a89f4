import { refuse, UpshotError } from '../../../core/errors.ts'
import type { Endpoint } from '../../../core/incoming/endpoint.ts'
import { type Account, DEFAULT_ACCOUNT, planAccount } from '../../../core/service/account.ts'
import { isoTime } from '../../../core/time.ts'
import type { ACCOUNT_ROUTES } from '../../contract/resources/service/accounts.ts'
import type { Call, Handlers } from '../../perform/handler.ts'
import { given } from '../../queries/read-query.ts'
import { requireAccount } from '../../queries/require-row.ts'
import type { ResourceParts } from '../parts.ts'

/** Accounts of the service; their keys go in and never come out. */
export function accountHandlers({ store, surroundings }: ResourceParts): Handlers<keyof typeof ACCOUNT_ROUTES> {
  const describeDefault = (endpoints: Endpoint[]) => {
    const { keeper, ...own } = surroundings.defaultAccount()
    const usual = { ...own, name: DEFAULT_ACCOUNT, hasFallbackKey: false, keeper, createdAt: null }
    return { ...usual, endpoints: usersOf(DEFAULT_ACCOUNT, endpoints) }
  }
  return {
    async 'GET /accounts'() {
      const endpoints = await store.listEndpoints()
      const added = (await store.listAccounts()).map((account) => describeAccount(account, endpoints))
      return { items: [describeDefault(endpoints), ...added] }
    },
    async 'GET /accounts/:name'({ params }) {
      const account = await requireAccount(store, params.name)
      const endpoints = await store.listEndpoints()
      return account === null ? describeDefault(endpoints) : describeAccount(account, endpoints)
    },
    async 'PUT /accounts/:name'({ params: { name }, body, writes, now }) {
      if (name === DEFAULT_ACCOUNT && !body.isNew) throw refuseDefault('changed')
      const known = body.isNew === false ? await requireAccount(store, name) : await store.findAccount(name)
      if (known !== null && body.isNew) {
        throw new UpshotError('conflict', `An account named "${name}" already exists.`, {
          fix: `Choose another name, or change it with "upshot accounts edit ${name}".`,
        })
      }
      const account = planAccount(
        { name, ...complete(body, known, surroundings.defaultAccount()) },
        known?.createdAt ?? now,
      )
      if (!body.isDryRun) await writes.saveAccount(account)
      return describeAccount(account, await store.listEndpoints())
    },
    async 'DELETE /accounts/:name'({ params, writes }) {
      if ((await requireAccount(store, params.name)) === null) throw refuseDefault('removed')
      await writes.removeAccount(params.name)
      return undefined
    },
  }
}

function describeAccount({ name, baseUrl, plan, storages, fallbackKey, createdAt }: Account, endpoints: Endpoint[]) {
  return {
    name,
    baseUrl,
    plan,
    storages,
    hasFallbackKey: fallbackKey !== null,
    keeper: null,
    createdAt: isoTime(createdAt),
    endpoints: usersOf(name, endpoints),
  }
}

function usersOf(account: string, endpoints: readonly Endpoint[]): string[] {
  return endpoints.filter((endpoint) => endpoint.account === account).map(({ name }) => name)
}

/**
 * The values of an account: those that are given, else those it has. A new one has the others of
 * the account `default`.
 */
function complete(
  body: Call<'PUT /accounts/:name'>['body'],
  known: Account | null,
  { keeper, ...usual }: ReturnType<ResourceParts['surroundings']['defaultAccount']>,
) {
  const isMoved = known !== null && originOf(body.baseUrl ?? known.baseUrl) !== originOf(known.baseUrl)
  // A caller could name a host of their own: a key goes to no other than it was given for.
  const kept = isMoved ? null : known
  const apiKey = body.apiKey ?? kept?.apiKey
  if (apiKey === undefined) {
    throw refuse(`${isMoved ? 'An account at another host' : 'A new account'} needs its key.`, 'Send it as `apiKey`.')
  }
  const isReal = keeper === 'environment'
  const baseUrl = body.baseUrl ?? (known ?? usual).baseUrl
  if (baseUrl === null) throw refuse('No base URL was given, and no app is running to take it from.', 'Add --base-url.')
  // The sandbox has our names of the storages; the service has its own.
  const names = known?.storages ?? (isReal || apiKey.startsWith('sk_sandbox_') ? usual.storages : {})
  const { storage_a, storage_b, storage_c } = { ...names, ...given(body.storages ?? {}) }
  if (!storage_a || !storage_b || !storage_c) {
    const fix = 'Add --storage-a, --storage-b and --storage-c.'
    throw refuse('The names of the three storages in API calls are not known.', fix)
  }
  // Without a new key, the one until now stays: it is no fallback of itself.
  const fallback = body.keepsOldKey && body.apiKey !== undefined ? kept?.apiKey : kept?.fallbackKey
  return {
    apiKey,
    baseUrl,
    storages: { storage_a, storage_b, storage_c },
    plan: body.plan ?? known?.plan ?? (isReal ? usual.plan : 'free'),
    fallbackKey: body.fallbackKey === undefined ? (fallback ?? null) : body.fallbackKey,
  }
}

function originOf(baseUrl: string): string {
  return new URL(baseUrl).origin
}

/** The account `default` has no row. */
function refuseDefault(act: string): UpshotError {
  const message = `The account "default" is set by the environment, so it cannot be ${act} here.`
  return refuse(message, 'Set SERVICE_BASE_URL, SERVICE_API_KEY and the other SERVICE_ variables, and restart the app.')
}
