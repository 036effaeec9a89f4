import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { Receiver } from '../../src/receive/receiver.ts'
import { eventBody } from '../support/fixtures.ts'
import { postDelivery } from '../support/post-delivery.ts'
import { opensslHmac } from '../support/sign.ts'
import { createTestReceiver, SECRET } from '../support/test-receiver.ts'

/**
 * Sends bytes as they are and gives the answer's text when the other side closes or has answered.
 */
function sendRaw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text))
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk.toString()
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', (error) => (answer === '' ? reject(error) : resolve(answer)))
  })
}

test('a Content-Length over the limit is refused before the body is read, and the connection closed', async () => {
  const { url, path, store } = await createTestReceiver({ limits: { bodyBytes: 2_048 } })
  const answer = await sendRaw(
    url,
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n`,
  )
  expect(answer).toMatch(/^HTTP\/1\.1 413 /)
  expect(await store.listDeliveries({ limit: 1 })).toMatchObject([{ verdict: 'too_large', bodyBytes: 1_000_000_000 }])
})

test('an endless chunked body is refused as soon as it exceeds the limit', async () => {
  const { url, path } = await createTestReceiver({ limits: { bodyBytes: 2_048 } })
  const chunk = `800\r\n${'x'.repeat(2_048)}\r\n`
  const answer = await sendRaw(
    url,
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
      `Transfer-Encoding: chunked\r\n\r\n${chunk}${chunk}`,
  )
  expect(answer).toMatch(/^HTTP\/1\.1 413 /)
})

test('P14: a delivery is answered 503 with Retry-After while the queue is full', async () => {
  const latch = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  const inner = await createTestReceiver()
  const { post } = await createTestReceiver({
    limits: { inFlight: 1 },
    store: {
      ...inner.store,
      findEndpoint: async () => inner.endpoint,
    },
    intake: {
      saveDelivery: async (delivery) => {
        arrived.resolve()
        await latch.promise
        return inner.store.saveDelivery(delivery)
      },
    },
  })
  const first = post(eventBody('evt_1')).then((response) => response.status)
  await arrived.promise
  const second = await post(eventBody('evt_2'))
  expect(second.status).toBe(503)
  expect(second.headers['retry-after']).toBe('2')
  latch.resolve()
  expect(await first).toBe(200)
  expect((await post(eventBody('evt_2'))).status).toBe(200)
})

test('a delivery is answered 503 when the store cannot be written', async () => {
  const { endpoint, store } = await createTestReceiver()
  const { heard, post } = await createTestReceiver({
    store: {
      ...store,
      findEndpoint: async () => endpoint,
      saveRefusal: () => Promise.reject(new Error('disk full')),
    },
    intake: { saveDelivery: () => Promise.reject(new Error('disk full')) },
  })
  const response = await post(eventBody('evt_1'))
  expect(response.status).toBe(503)
  expect(response.headers['retry-after']).toBeDefined()
  expect(heard.filter((notice) => notice.kind === 'fault').length).toBeGreaterThan(0)
})

test('a stopping receiver finishes deliveries in flight and accepts no other', async () => {
  const latch = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  const inner = await createTestReceiver()
  const outer = await createTestReceiver({
    store: {
      ...inner.store,
      findEndpoint: async () => inner.endpoint,
    },
    intake: {
      saveDelivery: async (delivery) => {
        arrived.resolve()
        await latch.promise
        return inner.store.saveDelivery(delivery)
      },
    },
  })
  const answer = outer.post(eventBody('evt_1')).then((response) => response.status)
  await arrived.promise
  const stopped = outer.receiver.stop()
  latch.resolve()
  expect(await answer).toBe(200)
  await stopped
  await expect(outer.post(eventBody('evt_2'))).rejects.toThrow('ECONNREFUSED')
  expect(await inner.store.listEvents({ limit: 10 })).toHaveLength(1)
})

test('secrets and signatures are in no answer, notice or database file', async () => {
  const { post, heard, store } = await createTestReceiver()
  const body = eventBody('evt_1')
  const signature = opensslHmac(SECRET, body)
  const answers = [await post(body), await post(body, { 'X-Service-Signature': `x${signature}` })]
  const seen = JSON.stringify([answers.map((answer) => [answer.text, answer.headers]), heard])
  expect(seen).not.toContain(SECRET)
  expect(seen).not.toContain(signature)
  await store.close()
  const { readdirSync, readFileSync } = await import('node:fs')
  for (const file of readdirSync(store.folder)) {
    if (!file.startsWith('upshot.db')) continue
    const bytes = readFileSync(`${store.folder}/${file}`)
    expect(bytes.includes(SECRET)).toBe(false)
    expect(bytes.includes(signature)).toBe(false)
  }
})

test('a receiver that listens and is not open answers 503, and takes deliveries once it is', async () => {
  const { store, clock, notices, endpoint } = await createTestReceiver()
  const parts = { store, intake: store, clock, publish: notices.publish, routes: () => [] }
  const receiver = new Receiver(parts)
  onTestFinished(() => receiver.stop())
  const url = `${await receiver.listen({ host: '127.0.0.1', port: 0 })}/hooks/${endpoint.path}`
  expect(await postDelivery(url, SECRET, 'evt_1')).toEqual({ status: 503, retryAfter: 2 })
  receiver.open()
  expect((await postDelivery(url, SECRET, 'evt_1')).status).toBe(200)
})
