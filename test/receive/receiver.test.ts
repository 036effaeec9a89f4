import { Agent, request } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { Receiver } from '../../src/receive/receiver.ts'
import { eventBody } from '../support/fixtures.ts'
import { postDelivery } from '../support/post-delivery.ts'
import { createTestReceiver, SECRET } from '../support/test-receiver.ts'

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

test('an idle connection is kept for longer than proxies keep it', async () => {
  const { url } = await createTestReceiver()
  const response = await fetch(url, { method: 'POST', headers: { Connection: 'keep-alive' } })
  expect(response.headers.get('keep-alive')).toBe('timeout=75')
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

test('a stranger who asks on and on over one connection holds up no stop', async () => {
  const latch = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  const { store, endpoint } = await createTestReceiver()
  const { url, path, receiver } = await createTestReceiver({
    store: {
      ...store,
      findEndpoint: async () => {
        arrived.resolve()
        await latch.promise
        return endpoint
      },
    },
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const ask = (method: string, to: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const sent = request(to, { method, agent }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode))
      })
      sent.on('error', reject).end()
    })
  // In flight as the stop begins, so that its connection is not idle.
  const refused = ask('POST', `${url}${path}`)
  await arrived.promise
  const stopped = receiver.stop()
  latch.resolve()
  expect(await refused).toBe(415)
  const askOn = async (): Promise<void> => ask('GET', url).then(askOn)
  await expect(askOn()).rejects.toThrow(/ECONN|socket/)
  await stopped
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
