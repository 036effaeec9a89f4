import { expect, test } from 'vitest'
import { planEndpoint, planRotation } from '../../../src/core/incoming/endpoint.ts'
import { SCHEME_PRESETS, type SchemePreset } from '../../../src/core/incoming/signature.ts'
import { eventBody, NOW } from '../../support/fixtures.ts'
import { createTestReceiver } from '../../support/test-receiver.ts'

/** The store, counting how often an endpoint is looked up: each delivery does. */
function counting<T extends { findEndpoint: (path: string) => Promise<unknown> }>(store: T) {
  const looks = { count: 0 }
  const findEndpoint = ((path: string) => {
    looks.count += 1
    return store.findEndpoint(path)
  }) as T['findEndpoint']
  return { looks, store: { ...store, findEndpoint } }
}

test.each(Object.keys(SCHEME_PRESETS) as SchemePreset[])(
  'passes through the real stack for an endpoint with the scheme %s, and leaves nothing behind',
  async (preset) => {
    const { receiver, store, heard, endpoint } = await createTestReceiver()
    await store.updateEndpoint({ ...endpoint, status: 'disabled' })
    await store.addEndpoint(planEndpoint({ name: 'probed', scheme: SCHEME_PRESETS[preset] }, NOW))
    await receiver.checkEndpoints()
    expect(heard).toEqual([])
    expect(await store.listDeliveries({ limit: 10 })).toEqual([])
    expect(await store.listEvents({ limit: 10 })).toEqual([])
  },
)

test('names the endpoint whose own signature does not pass, and says so in a fault', async () => {
  const { receiver, store, heard } = await createTestReceiver()
  const unusable = { ...SCHEME_PRESETS.hex, secret: 'hex' as const }
  await store.addEndpoint({ ...planEndpoint({ name: 'broken' }, NOW), scheme: unusable })
  await store.addEndpoint({
    ...planEndpoint({ name: 'ended' }, NOW),
    secrets: [{ position: 0, value: 'a-secret-that-has-ended-by-now', activeFrom: 0, until: 1 }],
  })
  await expect(receiver.checkEndpoints()).rejects.toThrow(/"broken"|not written as hex/)
  await expect(receiver.checkEndpoints()).rejects.toThrow(/"ended" answers 401/)
  expect(heard.map((notice) => notice.kind)).toEqual(['fault', 'fault'])
  expect(JSON.stringify(heard)).not.toContain('a-secret-that-has-ended')
})

test('probes once, again when the endpoints change, and a failed one again after a while', async () => {
  const inner = await createTestReceiver()
  const { looks, store } = counting(inner.store)
  const { receiver, clock } = await createTestReceiver({ store })
  const probes = async () => {
    const before = looks.count
    await receiver.checkEndpoints().catch(() => {})
    return looks.count - before
  }
  expect([await probes(), await probes()]).toEqual([1, 0])
  const rotated = planRotation(inner.endpoint, 'the-next-secret-of-this-endpoint', { overlapMs: 0, now: NOW })
  await inner.store.updateEndpoint(rotated)
  expect([await probes(), await probes()]).toEqual([1, 0])
  clock.advance('1h')
  expect(await probes()).toBe(0)

  await inner.store.updateEndpoint({ ...rotated, secrets: [], revision: 1 })
  expect([await probes(), await probes()]).toEqual([0, 0])
  await inner.store.updateEndpoint({
    ...rotated,
    scheme: { ...SCHEME_PRESETS.hex, header: 'Content-Type' },
    revision: 2,
  })
  const asked = [await probes(), await probes()]
  clock.advance('5s')
  expect([...asked, await probes(), await probes()]).toEqual([asked[0], 0, asked[0], 0])
})

test('takes a delivery that only claims to be a probe for what it is', async () => {
  const { post, store, receiver, heard } = await createTestReceiver()
  await receiver.checkEndpoints()
  const headers = { 'X-Upshot-Probe': 'f'.repeat(64) }
  expect((await post(eventBody('evt_1'), headers)).body.data.verdict).toBe('accepted')
  expect((await post(eventBody('evt_2'), { ...headers, 'X-Service-Signature': 'f'.repeat(64) })).status).toBe(401)
  expect(await store.listEvents({ limit: 10 })).toHaveLength(1)
  expect(heard).toHaveLength(2)
})

test('does not probe endpoints that learn or are disabled, and fails while the receiver does not listen', async () => {
  const { receiver, store, endpoint } = await createTestReceiver({ endpoint: { status: 'learning' } })
  await receiver.checkEndpoints()
  await receiver.stop()
  await receiver.checkEndpoints()
  await store.updateEndpoint({ ...endpoint, status: 'active' })
  await expect(receiver.checkEndpoints()).rejects.toThrow('does not listen')
})
