import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect } from 'vitest'
import { newId } from '../../../../src/core/ids.ts'
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

test('the row of a secret is written once a minute, however many deliveries it signs', async ({ store }) => {
  const endpoint = planEndpoint({ name: 'main' }, NOW)
  await store.addEndpoint(endpoint)
  const db = new Database(join(store.folder, 'upshot.db'))
  db.exec(`CREATE TABLE counted (at INTEGER);
    CREATE TRIGGER count_writes AFTER UPDATE OF last_used_at ON endpoint_secret
    BEGIN INSERT INTO counted VALUES (1); END`)
  for (let second = 0; second < 180; second += 4) {
    const receivedAt = NOW + second * 1_000
    const facts = { secret: 0 }
    const id = newId('dlv', receivedAt)
    await store.saveDelivery(
      incoming(`evt_${second}`, { id, endpointId: endpoint.id, facts, receivedAt, workflows: [] }),
    )
  }
  expect(db.prepare('SELECT count(*) FROM counted').pluck().get()).toBe(3)
  db.close()
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
