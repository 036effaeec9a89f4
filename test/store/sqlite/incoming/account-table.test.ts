import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { planAccount } from '../../../../src/core/service/account.ts'
import { NOW } from '../../../support/fixtures.ts'
import { openTestStore } from '../../../support/test-store.ts'

const account = (name: string) =>
  planAccount(
    {
      name,
      baseUrl: 'https://api.example.com/v1',
      apiKey: `sk_live_canary_${name}`,
      fallbackKey: `sk_live_canary_before_${name}`,
      plan: 'free',
      storages: { storage_a: 'a', storage_b: 'b', storage_c: 'c' },
    },
    NOW,
  )

test.each([
  ['from another account', `UPDATE account SET api_key = (SELECT api_key FROM account WHERE name = 'other')`],
  ['from the column of the other key', 'UPDATE account SET api_key = fallback_key'],
])('a sealed API key %s does not open', async (_which, swap) => {
  const store = openTestStore()
  for (const name of ['shop', 'other']) await store.saveAccount(account(name))
  expect(await store.findAccount('shop')).toEqual(account('shop'))
  const db = new Database(join(store.folder, 'upshot.db'))
  db.exec(`${swap} WHERE name = 'shop'`)
  db.close()
  await expect(store.findAccount('shop')).rejects.toMatchObject({ code: 'invalid_config' })
})
