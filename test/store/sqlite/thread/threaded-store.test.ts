import { expect, test } from 'vitest'
import { planEndpoint } from '../../../../src/core/incoming/endpoint.ts'
import { openThreadedStore } from '../../../../src/store/sqlite/thread/threaded-store.ts'
import { incoming, NOW } from '../../../support/fixtures.ts'
import { openTestStore } from '../../../support/test-store.ts'

test('the threaded store keeps the order of calls across messages', async () => {
  const store = openTestStore(undefined, openThreadedStore)
  const endpoint = planEndpoint({ name: 'main' }, NOW)
  const writes = [store.addEndpoint(endpoint)]
  for (let n = 1; n <= 50; n++) {
    writes.push(store.updateEndpoint({ ...endpoint, account: `account ${n}`, revision: n - 1 }))
  }
  await Promise.all(writes)
  expect(await store.listEndpoints()).toMatchObject([{ account: 'account 50' }])
})

test('an error of the writer thread keeps its class and code', async () => {
  const store = openTestStore(undefined, openThreadedStore)
  const endpoint = planEndpoint({ name: 'main' }, NOW)
  await store.addEndpoint(endpoint)
  await expect(store.addEndpoint(endpoint)).rejects.toMatchObject({
    name: 'UpshotError',
    code: 'conflict',
    message: expect.stringContaining('"main"'),
  })
})

test('a call that cannot be sent to the writer thread is rejected alone', async () => {
  const store = openTestStore(undefined, openThreadedStore)
  const facts = { reason: (() => {}) as never }
  const results = await Promise.allSettled([
    store.saveDelivery(incoming('evt_1')),
    store.saveDelivery(incoming('evt_2', { facts })),
    store.saveDelivery(incoming('evt_3')),
  ])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(results[1]).toMatchObject({ reason: { code: 'internal', message: /saveDelivery was given/ } })
})
