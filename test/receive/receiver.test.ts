import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { eventBody } from '../support/fixtures.ts'
import { opensslHmac } from '../support/sign.ts'
import { createTestReceiver, SECRET } from '../support/test-receiver.ts'

test('answers 200 after event and run are stored', async () => {
  const { post, store } = await createTestReceiver()
  const response = await post(eventBody('evt_1'))
  expect(response.status).toBe(200)
  expect(response.body).toEqual({ success: true, data: { verdict: 'accepted', event: 'evt_1' } })
  expect(await store.listRuns({ limit: 10 })).toMatchObject([
    { workflow: 'follow-up', status: 'pending', eventId: 'evt_1' },
  ])
})

test('answers 200 and starts nothing when the event is known', async () => {
  const { post, store } = await createTestReceiver()
  await post(eventBody('evt_1'))
  const again = await post(eventBody('evt_1'))
  expect(again.body.data.verdict).toBe('duplicate')
  expect(await store.listRuns({ limit: 10 })).toHaveLength(1)
  expect((await store.listDeliveries({ limit: 10 })).map((row) => row.verdict)).toEqual(['duplicate', 'accepted'])
})

test('keeps unknown fields and unknown event types', async () => {
  const { post, store } = await createTestReceiver()
  const body = JSON.stringify({ ...JSON.parse(eventBody('evt_1', 'storage.connected')), region: 'eu' })
  expect((await post(body)).status).toBe(200)
  expect(await store.listEvents({ limit: 1 })).toMatchObject([{ type: 'storage.connected', body }])
})

test('stores an event outside the filter of its endpoint and starts nothing', async () => {
  const { post, store } = await createTestReceiver({ endpoint: { events: ['transfer.*'] } })
  expect((await post(eventBody('evt_1', 'file.created'))).status).toBe(200)
  expect((await post(eventBody('evt_2', 'transfer.failed'))).status).toBe(200)
  expect(await store.listRuns({ limit: 10 })).toMatchObject([{ eventId: 'evt_2' }])
})

test('P10: verifies the bytes as they came, not as they parse', async () => {
  const { post } = await createTestReceiver()
  const spaced = `  ${eventBody('evt_1').replaceAll(',', ' ,\n ')}\n`
  expect((await post(spaced)).status).toBe(200)
  expect(
    (await post(JSON.stringify(JSON.parse(spaced)), { 'X-Service-Signature': opensslHmac(SECRET, spaced) })).status,
  ).toBe(401)
})

test('gives one answer to every refusal of trust, and the ledger the difference', async () => {
  const { post, store, path } = await createTestReceiver()
  const body = eventBody('evt_1')
  const refusals = [
    await post(body, { 'X-Service-Signature': undefined }),
    await post(body, { 'X-Service-Signature': '' }),
    await post(body, { 'X-Service-Signature': 'ä'.repeat(64) }),
    await post(body, { 'X-Service-Signature': opensslHmac('another-secret-that-is-long', body) }),
    await post(body.replace('evt_1', 'evt_2'), { 'X-Service-Signature': opensslHmac(SECRET, body) }),
    await post(body, {}, `${path}x`),
    await post(body, {}, '/hooks/main'),
  ]
  expect(refusals.map((response) => response.status)).toEqual(Array(7).fill(401))
  expect(new Set(refusals.map((response) => response.text)).size).toBe(1)
  expect(await store.listEvents({ limit: 10 })).toEqual([])
  const verdicts = (await store.listDeliveries({ limit: 10 })).map((row) => row.verdict)
  expect(verdicts.filter((verdict) => verdict === 'unknown_endpoint')).toHaveLength(2)
  expect(verdicts.filter((verdict) => verdict === 'bad_signature')).toHaveLength(5)
})

test('refuses a disabled endpoint like an unknown one', async () => {
  const { post, store } = await createTestReceiver({ endpoint: { status: 'disabled' } })
  expect((await post(eventBody('evt_1'))).status).toBe(401)
  expect(await store.listDeliveries({ limit: 1 })).toMatchObject([{ verdict: 'disabled' }])
})

test.each([
  ['no JSON', 'not json'],
  ['no object', '"evt_1"'],
  ['no id', JSON.stringify({ type: 'file.created', created: '2026-06-01T00:00:00Z', data: {} })],
  ['a foreign id', eventBody('message_1')],
  ['no data', JSON.stringify({ id: 'evt_1', type: 'file.created', created: '2026-06-01T00:00:00Z' })],
  ['a poisoned key', `{"__proto__":{"x":1},${eventBody('evt_1').slice(1)}`],
])('answers 400 to a signed body with %s and stores no event', async (_what, body) => {
  const { post, store } = await createTestReceiver()
  const response = await post(body)
  expect(response.status).toBe(400)
  expect(response.body).toMatchObject({ success: false, error: { code: 'invalid_request', details: {} } })
  expect(await store.listEvents({ limit: 1 })).toEqual([])
  expect(await store.listDeliveries({ limit: 1 })).toMatchObject([{ verdict: 'bad_json' }])
})

test('answers 400 to a signed body that is not UTF-8', async () => {
  const { post } = await createTestReceiver()
  expect(
    (await post(Buffer.concat([Buffer.from('{"id":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]))).status,
  ).toBe(400)
})

test('says which field of an event is wrong', async () => {
  const { post } = await createTestReceiver()
  const response = await post(JSON.stringify({ id: 'evt_1', type: 'file.created', created: 'yesterday', data: {} }))
  expect(response.body.error.details.faults).toMatchObject([{ at: 'created' }])
})

test('answers 415 to another media type and to an encoded body', async () => {
  const { post } = await createTestReceiver()
  const body = eventBody('evt_1')
  expect((await post(body, { 'Content-Type': 'text/plain' })).status).toBe(415)
  expect((await post(body, { 'Content-Type': 'application/json; charset=utf-8' })).status).toBe(200)
  expect((await post(body, { 'Content-Encoding': 'gzip' })).status).toBe(415)
})

test('refuses an announced size over the cap before it reads a byte, and closes', async () => {
  const { url, path, store } = await createTestReceiver({ limits: { bodyBytes: 2_048 } })
  const answer = await sendRaw(
    url,
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n`,
  )
  expect(answer).toMatch(/^HTTP\/1\.1 413 /)
  expect(await store.listDeliveries({ limit: 1 })).toMatchObject([{ verdict: 'too_large', bodyBytes: 1_000_000_000 }])
})

test('refuses an endless chunked body as soon as it passes the cap', async () => {
  const { url, path } = await createTestReceiver({ limits: { bodyBytes: 2_048 } })
  const chunk = `800\r\n${'x'.repeat(2_048)}\r\n`
  const answer = await sendRaw(
    url,
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}${chunk}`,
  )
  expect(answer).toMatch(/^HTTP\/1\.1 413 /)
})

test('P14: answers 503 with Retry-After when the queue of uncommitted deliveries is full', async () => {
  const gate = Promise.withResolvers<void>()
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
        await gate.promise
        return inner.store.saveDelivery(delivery)
      },
    },
  })
  const first = post(eventBody('evt_1')).then((response) => response.status)
  await arrived.promise
  const second = await post(eventBody('evt_2'))
  expect(second.status).toBe(503)
  expect(second.headers['retry-after']).toBe('2')
  gate.resolve()
  expect(await first).toBe(200)
  expect((await post(eventBody('evt_2'))).status).toBe(200)
})

test('answers 503, never 2xx, when the store cannot be written', async () => {
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

test('finishes what is in flight when it stops and takes nothing more', async () => {
  const gate = Promise.withResolvers<void>()
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
        await gate.promise
        return inner.store.saveDelivery(delivery)
      },
    },
  })
  const answer = outer.post(eventBody('evt_1')).then((response) => response.status)
  await arrived.promise
  const stopped = outer.receiver.stop()
  gate.resolve()
  expect(await answer).toBe(200)
  await stopped
  await expect(outer.post(eventBody('evt_2'))).rejects.toThrow('ECONNREFUSED')
  expect(await inner.store.listEvents({ limit: 10 })).toHaveLength(1)
})

test('leaves neither secret nor signature in answers, notices or the database', async () => {
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
