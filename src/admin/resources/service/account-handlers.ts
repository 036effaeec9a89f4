import { UpshotError } from '../../../core/errors.ts'
import type { Endpoint } from '../../../core/incoming/endpoint.ts'
import { type Account, DEFAULT_ACCOUNT, planAccount } from '../../../core/service/account.ts'
import { isoTime } from '../../../core/time.ts'
import type { ACCOUNT_ROUTES } from '../../contract/resources/service/accounts.ts'
import type { Handlers } from '../../perform/handler.ts'
import { requireAccount } from '../../queries/require-row.ts'
import { asCaller, type ResourceParts } from '../parts.ts'

/** Accounts of the service; their keys go in and never come out. */
export function accountHandlers(parts: ResourceParts): Handlers<keyof typeof ACCOUNT_ROUTES> {
  const { store, surroundings } = parts
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
    async 'PUT /accounts/:name'({ params, body, caller, now }) {
      const known = await store.findAccount(params.name)
      const { baseUrl, plan, storages, apiKey = known?.apiKey, fallbackKey = known?.fallbackKey ?? null } = body
      if (apiKey === undefined) throw new UpshotError('invalid_request', 'A new account needs its `apiKey`.')
      const account = planAccount({ name: params.name, baseUrl, apiKey, fallbackKey, plan, storages }, now)
      await asCaller(parts, { caller, body }).saveAccount({ ...account, createdAt: known?.createdAt ?? now })
      return describeAccount(account, await store.listEndpoints())
    },
    async 'DELETE /accounts/:name'({ params, caller, query }) {
      if ((await requireAccount(store, params.name)) === null) {
        throw new UpshotError(
          'invalid_request',
          'The account "default" is set by the environment, so it cannot be removed here.',
          {
            details: { fix: 'Remove SERVICE_BASE_URL and the other SERVICE_ variables from the environment.' },
          },
        )
      }
      await asCaller(parts, { caller, body: query }).removeAccount(params.name)
      return undefined
    },
  }
}

function describeAccount({ name, baseUrl, plan, storages, fallbackKey, createdAt }: Account, endpoints: Endpoint[]) {
  return {
    ...{ name, baseUrl, plan, storages, hasFallbackKey: fallbackKey !== null, keeper: null },
    createdAt: isoTime(createdAt),
    endpoints: usersOf(name, endpoints),
  }
}

function usersOf(account: string, endpoints: readonly Endpoint[]): string[] {
  return endpoints.filter((endpoint) => endpoint.account === account).map(({ name }) => name)
}
