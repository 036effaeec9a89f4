import { expect, test } from 'vitest'
import { AccountClients } from '../../../src/app/service/account-clients.ts'
import type { DeletePermit } from '../../../src/core/service/files-api.ts'
import { systemClock } from '../../../src/core/time.ts'
import { startService } from '../../e2e/support/served-app.ts'
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
