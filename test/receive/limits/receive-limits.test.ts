import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Notice } from '../../../src/core/notices.ts'
import { loadConfigFile } from '../../../src/project/config/config-file.ts'
import { DEFAULT_LIMITS } from '../../../src/receive/limits/receive-limits.ts'
import { addressKey, TokenBuckets } from '../../../src/receive/limits/token-buckets.ts'
import { eventBody } from '../../support/fixtures.ts'
import { postDelivery } from '../../support/post-delivery.ts'
import { openRaw, requestHead } from '../../support/raw-http.ts'
import { opensslHmac } from '../../support/sign.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { createTestReceiver, SECRET } from '../../support/test-receiver.ts'

/** What the receiver said of each delivery. */
const factsOf = (heard: readonly Notice[]) =>
  heard.flatMap((notice) => (notice.kind === 'delivery.received' ? [[notice.verdict, notice.facts.reason]] : []))

describe('a token bucket', () => {
  test('gives its burst, then one token at a time, and says how long the next one takes', () => {
    const buckets = new TokenBuckets({ perSecond: 2, burst: 3 })
    expect([0, 0, 0, 0].map(() => buckets.take('a', 1_000))).toEqual([0, 0, 0, 500])
    expect(buckets.take('b', 1_000)).toBe(0)
    expect([buckets.take('a', 1_250), buckets.take('a', 1_500), buckets.take('a', 1_500)]).toEqual([250, 0, 500])
    expect([0, 0, 0, 0].map(() => buckets.take('a', 90_000))).toEqual([0, 0, 0, 500])
  })

  test('takes nothing from anybody when the clock goes back', () => {
    const buckets = new TokenBuckets({ perSecond: 1, burst: 2 })
    buckets.take('a', 10_000)
    expect([buckets.take('a', 0), buckets.take('a', 0), buckets.take('a', 1_000)]).toEqual([0, 1_000, 0])
  })

  test('remembers so many keys and no more, and forgets those first that have long been quiet', () => {
    const buckets = new TokenBuckets({ perSecond: 1, burst: 1 }, 100)
    buckets.take('loud', 0)
    for (let n = 0; n < 5_000; n++) {
      buckets.take(`address ${n}`, n * 10)
      if (n === 40) buckets.take('loud', n * 10)
    }
    expect(buckets.size).toBe(100)
    const busy = new TokenBuckets({ perSecond: 1, burst: 1 }, 3)
    for (const key of ['quiet', 'loud', 'late']) busy.take(key, key === 'quiet' ? 0 : 5_000)
    busy.take('new', 5_000)
    expect(busy.take('loud', 5_000)).toBeGreaterThan(0)
  })
})

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '::ffff:192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::9', '2001:db8:1:2'],
  ['2001:db8::9', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1:2:3:4', 'fe80:0:0:0'],
  [undefined, ''],
])('counts the address %s with its neighbours as %s', (address, key) => {
  expect(addressKey(address)).toBe(key)
})

describe('a delivery over a limit is answered 503, before any secret is touched,', () => {
  test('and taken when the endpoint has a token again', async () => {
    const { post, clock, heard } = await createTestReceiver({ limits: { endpointPerSecond: 0.25, endpointBurst: 2 } })
    const answers = []
    for (const id of ['evt_1', 'evt_2', 'evt_3']) answers.push(await post(eventBody(id)))
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 503])
    expect(answers[2]?.headers['retry-after']).toBe('4')
    clock.advance('4s')
    expect((await post(eventBody('evt_3'))).status).toBe(200)
    expect(factsOf(heard)).toEqual([
      ['accepted', undefined],
      ['accepted', undefined],
      ['overloaded', 'endpoint_rate'],
      ['accepted', undefined],
    ])
  })

  test('for an address that sends too much, to whatever endpoint', async () => {
    const { post, heard, path } = await createTestReceiver({ limits: { addressPerSecond: 1, addressBurst: 3 } })
    for (const to of [`${path}x`, '/hooks/y', path, path]) await post(eventBody('evt_1'), {}, to)
    expect(factsOf(heard).map(([verdict]) => verdict)).toEqual([
      ...['unknown_endpoint', 'unknown_endpoint', 'accepted', 'overloaded'],
    ])
    expect(factsOf(heard).at(-1)).toEqual(['overloaded', 'address_rate'])
  })

  test('while flooding an address that is no endpoint takes nothing from those that are', async () => {
    const { post, path } = await createTestReceiver({ limits: { endpointPerSecond: 1, endpointBurst: 2 } })
    const flood = []
    for (let n = 0; n < 4; n++) flood.push((await post(eventBody('evt_1'), {}, `${path}${n}`)).status)
    expect(flood).toEqual([401, 401, 503, 503])
    expect((await post(eventBody('evt_1'))).status).toBe(200)
  })

  test('when the bytes of all bodies are too many, and taken once others are through', async () => {
    const { url, path, post, heard } = await createTestReceiver({ limits: { bytesInFlight: 5_000, bodyBytes: 4_000 } })
    const slow = await openRaw(url)
    await slow.write(requestHead(path, { 'Content-Length': 4_000 }) + 'x'.repeat(3_999))
    // The first bytes are here once a small delivery, sent after them, is taken.
    expect((await post(eventBody('evt_1'))).status).toBe(200)
    const large = eventBody('evt_2', 'file.created', { note: 'n'.repeat(1_500) })
    const refused = await post(large)
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '2'])
    expect(factsOf(heard).at(-1)).toEqual(['overloaded', 'bytes_in_flight'])
    await slow.write('x')
    expect(await slow.answer).toMatch(/^HTTP\/1\.1 401 /)
    expect((await post(large)).status).toBe(200)
  })
})

test('looks at the queue again when a slow body is complete: others may have filled it meanwhile', async () => {
  const gate = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  const inner = await createTestReceiver()
  let isHeld = false
  const { url, post } = await createTestReceiver({
    limits: { inFlight: 1 },
    store: inner.store,
    intake: {
      async saveDelivery(delivery) {
        if (isHeld) {
          arrived.resolve()
          await gate.promise
        }
        return inner.store.saveDelivery(delivery)
      },
    },
  })
  const body = eventBody('evt_slow')
  const signature = opensslHmac(SECRET, body)
  const head = requestHead(inner.path, { 'Content-Length': body.length, 'X-Service-Signature': signature })
  const slow = await openRaw(url)
  await slow.write(head + body.slice(0, -1))
  // Its head is read once a delivery that came after it is taken.
  expect((await post(eventBody('evt_1'), {}, inner.path)).status).toBe(200)
  isHeld = true
  const held = post(eventBody('evt_2'), {}, inner.path).then((response) => response.status)
  await arrived.promise
  await slow.write('}')
  expect(await slow.answer).toMatch(/^HTTP\/1\.1 503 /)
  gate.resolve()
  expect(await held).toBe(200)
  expect((await inner.store.listEvents({ limit: 10 })).map((event) => event.id).sort()).toEqual(['evt_1', 'evt_2'])
})

test('gives every byte of the budget back, whatever became of its delivery', async () => {
  const { url, path, post, notices } = await createTestReceiver({
    limits: { bytesInFlight: 6_000, bodyBytes: 4_000 },
  })
  const body = eventBody('evt_1', 'file.created', { note: 'n'.repeat(3_000) })
  for (let n = 0; n < 5; n++) {
    await post(body)
    await post(body, { 'X-Service-Signature': 'f'.repeat(64) })
    await post(body, { 'Content-Type': 'text/plain' })
    const endless = await openRaw(url)
    await endless.write(requestHead(path, { 'Transfer-Encoding': 'chunked' }))
    await endless.write(`1000\r\n${'x'.repeat(4_096)}\r\n`)
    await endless.closed
    const lost = notices.once('delivery.received', ({ verdict }) => verdict === 'incomplete')
    const broken = await openRaw(url)
    await broken.write(requestHead(path, { 'Content-Length': 4_000 }) + 'x'.repeat(3_000))
    broken.socket.destroy()
    await lost
  }
  expect((await post(body)).body.data.verdict).toBe('duplicate')
})

test('finds the limits generous: three hundred deliveries in a moment are no flood', async () => {
  const { path, url, store } = await createTestReceiver()
  const statuses: number[] = []
  const sendSome = async (from: number) => {
    for (let n = from; n < from + 15; n++) {
      statuses.push((await postDelivery(`${url}${path}`, SECRET, `evt_${n}`)).status)
    }
  }
  await Promise.all(Array.from({ length: 20 }, (_, sender) => sendSome(sender * 15)))
  expect([statuses.length, ...new Set(statuses)]).toEqual([300, 200])
  expect(await store.listEvents({ limit: 2_000 })).toHaveLength(300)
})

test('are configured in the file of the project, which must leave room for the largest body', async () => {
  const file = join(tempFolder(), 'upshot.config.ts')
  writeFileSync(file, 'export default { receive: { bodyBytes: 2097152, bytesInFlight: 1048576 } }')
  await expect(loadConfigFile(file)).rejects.toThrow('receive.bytesInFlight: must be at least bodyBytes')
  expect((await loadConfigFile('/nowhere/upshot.config.ts')).receive).toEqual(DEFAULT_LIMITS)
})
