import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { planEndpoint, planRotation } from '../../../src/core/incoming/endpoint.ts'
import { PROBE_HEADER } from '../../../src/core/incoming/probe-mark.ts'
import { SCHEME_PRESETS, type SchemePreset } from '../../../src/core/incoming/signature.ts'
import { SelfProbe } from '../../../src/receive/checks/probes.ts'
import { NOW } from '../../support/fixtures.ts'
import { listen } from '../../support/listen.ts'
import { createTestReceiver } from '../../support/test-receiver.ts'

/** The store, with the number of endpoint lookups: each delivery makes one. */
function counting<T extends { findEndpoint: (path: string) => Promise<unknown> }>(store: T) {
  const lookups = { count: 0 }
  const findEndpoint = ((path: string) => {
    lookups.count += 1
    return store.findEndpoint(path)
  }) as T['findEndpoint']
  return { lookups, store: { ...store, findEndpoint } }
}

test.each(Object.keys(SCHEME_PRESETS) as SchemePreset[])(
  'a probe passes the real stack under the scheme %s and leaves nothing behind',
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

test('a check names the endpoint that refuses its own signature and publishes a fault', async () => {
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

test('endpoints are probed once, when one changes, and after a while when one has failed', async () => {
  const inner = await createTestReceiver()
  const { lookups, store } = counting(inner.store)
  const { receiver, clock } = await createTestReceiver({ store })
  const probes = async () => {
    const before = lookups.count
    await receiver.checkEndpoints().catch(() => {})
    return lookups.count - before
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
  // A clock that was ahead is set back.
  clock.set(NOW)
  expect([await probes(), await probes()]).toEqual([asked[0], 0])
})

test('a check skips learning and disabled endpoints, and fails while the receiver does not listen', async () => {
  const { receiver, store, endpoint } = await createTestReceiver({ endpoint: { status: 'learning' } })
  await receiver.checkEndpoints()
  await receiver.stop()
  await receiver.checkEndpoints()
  await store.updateEndpoint({ ...endpoint, status: 'active' })
  await expect(receiver.checkEndpoints()).rejects.toThrow('does not listen')
})

test('a probe that is read after it was given up is one all the same, once', async () => {
  const { endpoint } = await createTestReceiver()
  const marks: string[] = []
  const url = await listen(
    createServer((request, response) => {
      marks.push(String(request.headers[PROBE_HEADER]))
      response.destroy()
    }),
  )
  const probe = new SelfProbe()
  await expect(probe.send(url, endpoint, NOW)).rejects.toThrow()
  expect(marks.map((mark) => [probe.recognize(mark), probe.recognize(mark)])).toEqual([[true, false]])
})
