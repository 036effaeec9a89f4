import { expect, test } from 'vitest'
import { planEndpoint, planRetirement, planRotation } from '../../src/core/incoming/endpoint.ts'
import { KEEP_ALL } from '../../src/core/store/retention.ts'
import { ManualClock } from '../../src/core/time.ts'
import { Pruner } from '../../src/schedule/pruner.ts'
import { NOW } from '../support/fixtures.ts'
import { openTestStore } from '../support/test-store.ts'

test('the pruner removes a retired secret from the database 30 days after its retirement', async () => {
  const store = openTestStore()
  const clock = new ManualClock(NOW)
  const first = planEndpoint({ name: 'main' }, NOW)
  await store.addEndpoint(first)
  const rotated = planRotation(first, 'the-second-secret-of-them-all', { overlapMs: 1_000, now: NOW })
  await store.updateEndpoint(planRetirement(rotated, NOW))
  const positions = async () => (await store.listSecretUses(first.id)).map(({ position }) => position)
  const updated = Promise.withResolvers<void>()
  const watched = {
    ...store,
    async updateEndpoint(...given: Parameters<typeof store.updateEndpoint>) {
      await store.updateEndpoint(...given)
      updated.resolve()
    },
  }
  expect(await positions()).toEqual([0, 1])
  clock.advance('30d')
  const pruner = new Pruner({ store: watched, clock, retention: KEEP_ALL, publish: () => {} })
  pruner.start()
  clock.advance('1m')
  await updated.promise
  expect(await positions()).toEqual([1])
  await pruner.stop()
})
