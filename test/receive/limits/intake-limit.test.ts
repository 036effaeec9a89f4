import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Notice } from '../../../src/core/notices.ts'
import { loadConfigFile } from '../../../src/project/config/config-file.ts'
import { DEFAULT_LIMITS } from '../../../src/receive/limits/intake-limit.ts'
import { eventBody } from '../../support/fixtures.ts'
import { postDelivery } from '../../support/post-delivery.ts'
import { openRaw, requestHead } from '../../support/raw-http.ts'
import { opensslHmac } from '../../support/sign.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { createTestReceiver, SECRET } from '../../support/test-receiver.ts'

/** Verdict and reason of each delivery. */
const factsOf = (heard: readonly Notice[]) =>
  heard.flatMap((notice) => (notice.kind === 'delivery.received' ? [[notice.verdict, notice.facts.reason]] : []))

test('a delivery over the rate of its endpoint is answered 503 and accepted once there is a token', async () => {
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

test('a delivery over the rate of its address is answered 503, whatever its endpoint', async () => {
  const { post, heard, path } = await createTestReceiver({ limits: { addressPerSecond: 1, addressBurst: 3 } })
  for (const to of [`${path}x`, '/hooks/y', path, path]) await post(eventBody('evt_1'), {}, to)
  expect(factsOf(heard).map(([verdict]) => verdict)).toEqual([
    'unknown_endpoint',
    'unknown_endpoint',
    'accepted',
    'overloaded',
  ])
  expect(factsOf(heard).at(-1)).toEqual(['overloaded', 'address_rate'])
})

test('a flood to an unknown endpoint takes no tokens from known ones', async () => {
  const { post, path } = await createTestReceiver({ limits: { endpointPerSecond: 1, endpointBurst: 2 } })
  const flood = []
  for (let n = 0; n < 4; n++) flood.push((await post(eventBody('evt_1'), {}, `${path}${n}`)).status)
  expect(flood).toEqual([401, 401, 503, 503])
  expect((await post(eventBody('evt_1'))).status).toBe(200)
})

test('a delivery over the bytes in flight is answered 503 and accepted once others are through', async () => {
  const { url, path, post, heard } = await createTestReceiver({
    limits: { bytesInFlight: 5_000, bodyBytes: 4_000, addressShare: 1 },
  })
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

test('the queue is checked again when a slow body is complete', async () => {
  const latch = Promise.withResolvers<void>()
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
          await latch.promise
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
  latch.resolve()
  expect(await held).toBe(200)
  expect((await inner.store.listEvents({ limit: 10 })).map((event) => event.id).sort()).toEqual(['evt_1', 'evt_2'])
})

test('every byte in flight is given back, whatever became of its delivery', async () => {
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

test('three hundred deliveries at once are within the default limits', async () => {
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

test('the receive limits are read from the configuration file, and must fit the largest body', async () => {
  const file = join(tempFolder(), 'upshot.config.ts')
  writeFileSync(file, 'export default { receive: { bodyBytes: 2097152, bytesInFlight: 1048576 } }')
  await expect(loadConfigFile(file)).rejects.toThrow('receive.bytesInFlight: must be at least bodyBytes')
  expect((await loadConfigFile('/nowhere/upshot.config.ts')).receive).toEqual(DEFAULT_LIMITS)
})
