import { expect } from 'vitest'
import { planEndpoint } from '../../../../src/core/incoming/endpoint.ts'
import { incoming, NOW } from '../../../support/fixtures.ts'
import { openTestStore, test } from '../../../support/test-store.ts'

test('the use of a secret is recorded even if its commit was rolled back for another write', async ({ store }) => {
  const endpoint = planEndpoint({ name: 'main' }, NOW)
  await store.addEndpoint(endpoint)
  const [saved, refused] = await Promise.allSettled([
    store.saveDelivery(incoming('evt_1', { endpointId: endpoint.id, facts: { secret: 0 } })),
    store.addEndpoint(planEndpoint({ name: 'main' }, NOW)),
  ])
  expect([saved?.status, refused?.status]).toEqual(['fulfilled', 'rejected'])
  expect(await store.listSecretUses(endpoint.id)).toEqual([{ position: 0, lastUsedAt: NOW }])
})

test('the last use of a secret never goes back: a slower process does not undo a later use', async () => {
  const one = openTestStore()
  const other = openTestStore(one.folder)
  const endpoint = planEndpoint({ name: 'main' }, NOW)
  await one.addEndpoint(endpoint)
  const facts = { secret: 0 }
  await one.saveDelivery(incoming('evt_1', { endpointId: endpoint.id, facts, receivedAt: NOW + 90_000 }))
  await other.saveDelivery(incoming('evt_2', { endpointId: endpoint.id, facts, receivedAt: NOW }))
  expect(await other.listSecretUses(endpoint.id)).toEqual([{ position: 0, lastUsedAt: NOW + 90_000 }])
})
