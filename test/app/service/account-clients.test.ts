import { expect, test, vi } from 'vitest'
import { AccountClients } from '../../../src/app/service/account-clients.ts'
import { planAccount } from '../../../src/core/service/account.ts'
import type { DeletePermit } from '../../../src/core/service/files-api.ts'
import { ManualClock, systemClock } from '../../../src/core/time.ts'
import { startService } from '../../e2e/support/served-app.ts'
import { NOW } from '../../support/fixtures.ts'
import { openTestStore } from '../../support/test-store.ts'

test('the client of an account keeps to the permit of each delete', async () => {
  const { sandbox, service } = await startService({ plan: 'enterprise', clock: 'real' })
  const parts = { store: openTestStore(), defaultAccess: () => service, clock: systemClock, random: Math.random }
  const clients = new AccountClients({ ...parts, burst: null, priority: 'workflow', publish: () => {} })
  const told: unknown[] = []
  const permit: DeletePermit = {
    expect: { path: '/a.txt', bytes: 7, modifiedAt: null },
    isRepeated: true,
    onSeen: ({ bytes }) => void told.push(bytes),
    beforeSend: async () => void told.push('sent'),
  }
  const files = clients.filesFor('default', (_, perform) => perform({ signal: new AbortController().signal, permit }))
  const storage = sandbox.storage('storage_a')
  const put = async (text: string) => ({ service: 'storage_a', id: (await storage.put('/a.txt', text)).id }) as const
  expect(await files.delete(await put('another'))).toMatchObject({ outcome: 'deleted' })
  const other = await put('longer than approved')
  expect(await files.delete(other)).toEqual({ outcome: 'changed', proof: 'verified' })
  expect(told).toEqual([7, 'sent', 20])
  await storage.remove('/a.txt')
  expect(await files.delete(other)).toEqual({ outcome: 'already_gone', proof: 'verified' })
  await clients.stop()
})

test('a clock that is set back keeps no new account from being known by its host', async () => {
  const clock = new ManualClock(NOW)
  const store = openTestStore()
  const given = { plan: 'pro', apiKey: 'sk_live_1', fallbackKey: null } as const
  const storages = { storage_a: 'a', storage_b: 'b', storage_c: 'c' }
  const defaultAccess = () => ({ ...given, storages, baseUrl: 'https://api.example.com/v1' })
  const parts = { store, defaultAccess, clock, random: Math.random }
  const clients = new AccountClients({ ...parts, burst: null, priority: 'workflow', publish: () => {} })
  expect(clients.isServiceHost('acme.example.com')).toBe(false)
  await store.listAccounts()
  clock.set(NOW - 86_400_000)
  const account = { ...given, storages, name: 'acme', baseUrl: 'https://acme.example.com/v1' }
  await store.saveAccount(planAccount(account, NOW))
  await vi.waitUntil(() => clients.isServiceHost('acme.example.com'))
  await clients.stop()
})
