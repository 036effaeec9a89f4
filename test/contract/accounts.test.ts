import { expect } from 'vitest'
import { planEndpoint } from '../../src/core/incoming/endpoint.ts'
import { type Account, planAccount } from '../../src/core/service/account.ts'
import { NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'

function account(name: string, part: Partial<Account> = {}): Account {
  const storages = { storage_a: 'a-drive', storage_b: 'b-drive', storage_c: 'c-drive' }
  const given = { baseUrl: 'https://api.example.com/v1', apiKey: `sk_live_${name}`, fallbackKey: null, storages }
  return planAccount({ name, plan: 'pro', ...given, ...part }, NOW)
}

describeStores((test) => {
  test('an account is stored with its keys, and other processes see it', async ({ store, reopen }) => {
    const shop = account('shop', { fallbackKey: 'sk_live_before', plan: 450 })
    await store.saveAccount(account('archive'))
    await store.saveAccount(shop)
    expect(await (await reopen()).findAccount('shop')).toEqual(shop)
    expect((await store.listAccounts()).map(({ name }) => name)).toEqual(['archive', 'shop'])
    expect(await store.findAccount('default')).toBeNull()
  })

  test('an account that an endpoint uses cannot be removed', async ({ store }) => {
    await store.saveAccount(account('shop'))
    const endpoint = planEndpoint({ name: 'main', account: 'shop' }, NOW)
    await store.addEndpoint(endpoint)
    await expect(store.removeAccount('shop')).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('main'),
    })
    await store.removeEndpoint(endpoint, NOW)
    await store.removeAccount('shop')
    expect(await store.findAccount('shop')).toBeNull()
    await expect(store.removeAccount('shop')).rejects.toMatchObject({ code: 'not_found' })
  })
})
