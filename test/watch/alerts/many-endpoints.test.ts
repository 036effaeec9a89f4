import { expect, onTestFinished, test } from 'vitest'
import { planEndpoint } from '../../../src/core/incoming/endpoint.ts'
import { ManualClock } from '../../../src/core/time.ts'
import { Receiver } from '../../../src/receive/receiver.ts'
import { lookAtSecrets, lookAtSilence } from '../../../src/watch/alerts/look-at-endpoints.ts'
import { incoming, NOW } from '../../support/fixtures.ts'
import { openTestStore } from '../../support/test-store.ts'

const RULE = { over: 5, forMs: 3_600_000 } as Parameters<typeof lookAtSilence>[1]

/** A store with used endpoints that counts what it is asked. */
async function openMany(count: number) {
  const real = openTestStore()
  for (let n = 0; n < count; n++) {
    const endpoint = planEndpoint({ name: `e${n}` }, NOW)
    await real.addEndpoint(endpoint)
    await real.saveDelivery(incoming(`evt_${n}`, { endpointId: endpoint.id, facts: { secret: 0 } }))
  }
  const asked: string[] = []
  const store = new Proxy(real, {
    get(target, name, receiver) {
      asked.push(String(name))
      return Reflect.get(target, name, receiver)
    },
  })
  return { store, asked }
}

test('a start and a look ask as much for many endpoints as for one', async () => {
  const counts: number[] = []
  for (const count of [1, 20]) {
    const { store, asked } = await openMany(count)
    const parts = { store, intake: store, clock: new ManualClock(NOW), publish: () => {}, routes: () => [] }
    const receiver = new Receiver(parts)
    onTestFinished(() => receiver.stop())
    await receiver.start({ host: '127.0.0.1', port: 0 })
    await lookAtSecrets({ store }, RULE, null, NOW)
    await lookAtSilence({ store }, RULE, null, NOW)
    counts.push(asked.length)
  }
  expect(counts[1]).toBe(counts[0])
})
