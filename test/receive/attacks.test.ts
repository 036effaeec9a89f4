import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import type { Verdict } from '../../src/core/incoming/delivery.ts'
import { SignatureAlarm } from '../../src/receive/checks/signature-alarm.ts'
import { DeliveryHandler } from '../../src/receive/delivery-handler.ts'
import { IntakeLimit } from '../../src/receive/limits/intake-limit.ts'
import { RefusalLedger } from '../../src/receive/refusal-ledger.ts'
import { eventBody } from '../support/fixtures.ts'
import { openRaw, requestHead } from '../support/raw-http.ts'
import { opensslHmac } from '../support/sign.ts'
import { createTestReceiver, SECRET } from '../support/test-receiver.ts'

const GIGABYTE = 1_000_000_000
const LARGE_CHUNK = `10000\r\n${'x'.repeat(65_536)}\r\n`

describe('a body that is too large', () => {
  test('is refused by its announced size: the sender is cut off after a few kilobytes', async () => {
    const { url, path, heard } = await createTestReceiver()
    const connection = await openRaw(url)
    await connection.write(requestHead(path, { 'Content-Length': GIGABYTE }))
    expect(await connection.answer).toMatch(/^HTTP\/1\.1 413 [\s\S]*\r\nConnection: close/i)
    await connection.closed
    expect(connection.socket.bytesWritten).toBeLessThan(4_096)
    expect(heard).toMatchObject([{ verdict: 'too_large', facts: { contentLength: GIGABYTE } }])
  })

  test('is refused before its sender begins, when that asks first', async () => {
    const { url, path, post } = await createTestReceiver()
    const connection = await openRaw(url)
    await connection.write(requestHead(path, { 'Content-Length': GIGABYTE, Expect: '100-continue' }))
    expect(await connection.answer).toMatch(/^HTTP\/1\.1 413 /)
    await connection.closed

    const polite = await openRaw(url)
    const body = eventBody('evt_1')
    const headers = { 'Content-Length': body.length, 'X-Service-Signature': opensslHmac(SECRET, body) }
    await polite.write(requestHead(path, { ...headers, Expect: '100-continue' }) + body)
    expect(await polite.answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /)
    expect((await post(body)).body.data.verdict).toBe('duplicate')
  })

  test('is refused when it never ends: the sender is cut off soon after the cap', async () => {
    const { url, path, heard } = await createTestReceiver({ limits: { bodyBytes: 131_072 } })
    const connection = await openRaw(url)
    await connection.write(requestHead(path, { 'Transfer-Encoding': 'chunked' }))
    let chunks = 0
    while (chunks < 2_000 && (await connection.write(LARGE_CHUNK))) chunks += 1
    await connection.closed
    // Two of them are the cap; what else was sent lay in the buffers of both systems when the
    // connection ended.
    expect(chunks).toBeLessThan(1_000)
    expect(heard).toMatchObject([{ kind: 'delivery.received', verdict: 'too_large' }])
  })

  test('takes no more memory than its bytes, when they come one at a time', async () => {
    const { url, path, post } = await createTestReceiver()
    const connection = await openRaw(url)
    const body = eventBody('evt_1', 'file.created', { note: 'n'.repeat(100_000) })
    const chunks = Buffer.from([...body].map((character) => `1\r\n${character}\r\n`).join(''))
    await connection.write(
      requestHead(path, { 'Transfer-Encoding': 'chunked', 'X-Service-Signature': opensslHmac(SECRET, body) }),
    )
    await connection.write(chunks)
    await connection.write('0\r\n\r\n')
    expect(await connection.answer).toMatch(/^HTTP\/1\.1 200 /)
    expect((await post(body)).body.data.verdict).toBe('duplicate')
  })
})

describe('a slow sender', () => {
  // Long enough for a head to arrive on a machine that is busy with other tests.
  const patient = { requestTimeout: 2_000, headersTimeout: 2_000, connectionsCheckingInterval: 50 }
  const timeouts = { requestTimeout: 300, headersTimeout: 150, connectionsCheckingInterval: 50 }

  test('of a body is cut off, and leaves a row that says how far it came', async () => {
    const { url, path, heard, notices } = await createTestReceiver({ timeouts: patient })
    const refused = notices.once('delivery.received')
    const connection = await openRaw(url)
    await connection.write(requestHead(path, { 'Content-Length': 1_000 }))
    await connection.write('{"id":')
    await connection.closed
    await refused
    expect(heard).toMatchObject([{ verdict: 'incomplete', facts: { contentLength: 6 } }])
  })

  test('of headers, and one that never sends any, is cut off', async () => {
    const { url, path, heard } = await createTestReceiver({ timeouts })
    const [halfway, silent] = [await openRaw(url), await openRaw(url)]
    await halfway.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nX-Slow: `)
    await Promise.all([halfway.closed, silent.closed])
    expect(heard).toEqual([])
  })

  test('who goes away in the middle of a body costs nothing afterwards', async () => {
    const { url, path, heard, notices, post } = await createTestReceiver({ limits: { inFlight: 1 } })
    for (let n = 0; n < 5; n++) {
      const refused = notices.once('delivery.received')
      const connection = await openRaw(url)
      await connection.write(requestHead(path, { 'Content-Length': 1_000 }))
      await connection.write('{')
      connection.socket.destroy()
      await refused
    }
    expect(heard.map((notice) => notice.kind === 'delivery.received' && notice.verdict)).toEqual(
      Array(5).fill('incomplete'),
    )
    expect((await post(eventBody('evt_1'))).status).toBe(200)
  })
})

test('senders who hold their bodies back take no place in the queue from those who do not', async () => {
  const { url, path, post } = await createTestReceiver({ limits: { inFlight: 2 } })
  for (let n = 0; n < 10; n++) {
    const connection = await openRaw(url)
    await connection.write(requestHead(path, { 'Content-Length': 1_000 }))
    await connection.write('{')
  }
  expect((await post(eventBody('evt_1'))).status).toBe(200)
})

describe('bytes that could be read in two ways', () => {
  test.each(['gzip', 'deflate', 'br', 'identity, gzip', 'GZIP', ''])('%s-encoded are refused', async (encoding) => {
    const { url, path } = await createTestReceiver()
    const body = eventBody('evt_1')
    const connection = await openRaw(url)
    const signature = opensslHmac(SECRET, body)
    const headers = { 'Content-Length': body.length, 'X-Service-Signature': signature, 'Content-Encoding': encoding }
    await connection.write(requestHead(path, headers) + body)
    expect(await connection.answer).toMatch(/^HTTP\/1\.1 415 /)
  })

  test.each([
    ['a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked'],
    ['two lengths', 'Content-Length: 5\r\nContent-Length: 6'],
    ['a length with a sign', 'Content-Length: +5'],
    ['chunks in disguise', 'Transfer-Encoding: xchunked'],
    ['a folded header', 'X-Service-Signature: a\r\n b'],
  ])('with %s are refused, and the connection ends', async (_what, lines) => {
    const { url, path, store } = await createTestReceiver()
    const connection = await openRaw(url)
    await connection.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${lines}\r\n\r\n0\r\n\r\n`,
    )
    expect(await connection.answer).toMatch(/^HTTP\/1\.1 4\d\d /)
    connection.socket.end()
    await connection.closed
    expect(await store.listEvents({ limit: 1 })).toEqual([])
  })
})

describe('headers that are not as they should be', () => {
  const body = eventBody('evt_1')
  const good = opensslHmac(SECRET, body)

  test.each<[string, string[]]>([
    ['come twice', [good, good]],
    ['come twice, the right one last', ['0', good]],
    ['are a list', [`${good}, ${good}`]],
    ['are empty', ['']],
    ['are blank', ['   ']],
    ['are not ASCII', [`${good.slice(1)}\u00e9`]],
    ['are too short', [good.slice(0, 8)]],
    ['are too long', [good.repeat(50)]],
    ['are objects to somebody else', ['[object Object]']],
  ])('are refused when they %s', async (_what, values) => {
    const { url, path, store } = await createTestReceiver()
    const connection = await openRaw(url)
    const lines = values.map((value) => `X-Service-Signature: ${value}\r\n`).join('')
    const head = requestHead(path, { 'Content-Length': body.length }).replace('\r\n\r\n', `\r\n${lines}\r\n`)
    await connection.write(Buffer.from(head + body, 'latin1'))
    expect(await connection.answer).toMatch(/^HTTP\/1\.1 401 /)
    expect(await store.listEvents({ limit: 1 })).toEqual([])
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json5',
    'application/jsonp',
    'text/json',
    'application/json/../text',
    'application/json, text/plain',
    '*/*',
    'json',
    undefined,
  ])('are refused with the content type %s, whether or not there is such an endpoint', async (contentType) => {
    const { post, path, store } = await createTestReceiver()
    const headers = { 'Content-Type': contentType }
    const answers = [await post(Buffer.from(body), headers), await post(Buffer.from(body), headers, `${path}x`)]
    expect(answers.map((answer) => answer.status)).toEqual([415, 415])
    expect(answers[0]?.text).toBe(answers[1]?.text)
    expect(await store.listEvents({ limit: 1 })).toEqual([])
  })

  test('are refused when the content type comes twice', async () => {
    const { url, path } = await createTestReceiver()
    const connection = await openRaw(url)
    const headers = { 'Content-Length': body.length, 'X-Service-Signature': good, 'content-type': 'text/plain' }
    await connection.write(requestHead(path, headers) + body)
    expect(await connection.answer).toMatch(/^HTTP\/1\.1 415 /)
  })
})

test.each([
  ['keys twice', '"a":1,"a":2'],
  ['the same key written in two ways', '"a":1,"\\u0061":2'],
  ['a key twice in a nest', '"x":[{"y":{"a":1,"a":1}}]'],
  ['its own fields again', '"id":"evt_2","id":"evt_3"'],
  ['a nest of 65 levels', `"a":${'['.repeat(63)}${']'.repeat(63)}`],
  ['10,001 keys', Array.from({ length: 10_001 }, (_, n) => `"k${n}":1`).join(',')],
  ['a constructor with a prototype', '"constructor":{"prototype":{"x":1}}'],
  ['a constructor that is written with an escape', '"\\u0063onstructor":{"prototype":{"x":1}}'],
  ['another prototype that is written with an escape', '"__pr\\u006fto__":{"x":1}'],
])('refuses a signed body with %s', async (_what, members) => {
  const { post, store } = await createTestReceiver()
  const body = eventBody('evt_1', 'file.created').replace('"data":{', `"data":{${members},`)
  expect((await post(body)).status).toBe(400)
  expect(await store.listEvents({ limit: 1 })).toEqual([])
})

test('refuses a signed body that begins with a byte order mark, which would not be read again from the store', async () => {
  const { post } = await createTestReceiver()
  expect((await post(`\uFEFF${eventBody('evt_1')}`)).status).toBe(400)
})

test('takes what is just within the limits', async () => {
  const { post } = await createTestReceiver()
  const keys = Array.from({ length: 9_900 }, (_, n) => `"k${n}":${n}`).join(',')
  const body = eventBody('evt_1').replace('"data":{', `"data":{"deep":${'['.repeat(62)}${']'.repeat(62)},${keys},`)
  expect((await post(body)).status).toBe(200)
})

test('answers 500, loudly, when somebody else has read the body', async () => {
  const { store, clock, heard, notices, endpoint } = await createTestReceiver()
  const handler = new DeliveryHandler({
    ...{ store, intake: store, clock, publish: notices.publish, routes: () => [] },
    ...{
      intakeLimit: new IntakeLimit({}, () => false),
      ledger: new RefusalLedger(store, notices.publish),
      alarm: new SignatureAlarm(),
    },
    recogniseProbe: () => false,
  })
  const server = createServer(async (request, response) => {
    Object.assign(request, { body: JSON.parse(await text(request)) })
    await handler.handle(request, response, endpoint.path)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const body = eventBody('evt_1')
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Service-Signature': opensslHmac(SECRET, body) },
    body,
  })
  expect(answer.status).toBe(500)
  expect(await store.listEvents({ limit: 1 })).toEqual([])
  expect(heard).toContainEqual(
    expect.objectContaining({
      kind: 'fault',
      error: expect.objectContaining({ message: expect.stringContaining('body parser') }),
    }),
  )
})

test('closes connections over the cap at once, and serves those within', async () => {
  const { url, path } = await createTestReceiver({ limits: { connections: 20 } })
  const within = await Promise.all(Array.from({ length: 20 }, () => openRaw(url)))
  // Each is known to be counted once it has been answered.
  for (const connection of within.slice(0, 19)) {
    await connection.write(requestHead(path, { 'Content-Length': 0 }))
    expect(await connection.answer).toMatch(/^HTTP\/1\.1 401 /)
  }
  const over = await openRaw(url)
  await over.closed
  expect(over.socket.bytesRead).toBe(0)
  await within[19]?.write(requestHead(path, { 'Content-Length': 0 }))
  expect(await within[19]?.answer).toMatch(/^HTTP\/1\.1 401 /)
})

describe('a prober', () => {
  test('cannot tell endpoints that do not exist, are disabled, or refuse it', async () => {
    const disabled = await createTestReceiver({ endpoint: { status: 'disabled' } })
    const active = await createTestReceiver()
    const body = eventBody('evt_1')
    const wrong = { 'X-Service-Signature': opensslHmac('a-secret-that-nobody-has-given', body) }
    const answers = [
      await active.post(body, wrong),
      await active.post(body, wrong, `${active.path}x`),
      await active.post(body, wrong, '/hooks/'),
      await disabled.post(body, wrong),
      // Even the right signature opens no disabled endpoint.
      await disabled.post(body),
    ]
    const seen = answers.map(({ status, text: body, headers: { date, ...headers } }) => ({ status, body, headers }))
    expect(new Set(seen.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(seen[0]?.status).toBe(401)
  })

  test('is verified against a secret that nobody has where there is no endpoint', async () => {
    const { acceptDelivery } = await import('../../src/receive/accept-delivery.ts')
    const { store, endpoint } = await createTestReceiver()
    const readBy = async (path: string) => {
      const asked: string[] = []
      const header = (name: string) => {
        asked.push(name)
        return name === 'content-type' ? 'application/json' : 'f'.repeat(64)
      }
      const delivery = { id: newId('dlv', 1), header, rawHeaders: [], body: Buffer.from('{}') }
      const parts = { store, intake: store, routes: () => [] }
      const found = await store.findEndpoint(path)
      const { verdict } = await acceptDelivery(parts, found, { ...delivery, receivedAt: 1e12, isProbe: false })
      return { verdict, asked }
    }
    const known: { verdict: Verdict; asked: string[] } = await readBy(endpoint.path)
    const unknown = await readBy('nobody')
    expect([known.verdict, unknown.verdict]).toEqual(['bad_signature', 'unknown_endpoint'])
    expect(unknown.asked).toEqual(known.asked)
    expect(unknown.asked).toContain('x-service-signature')
  })
})
