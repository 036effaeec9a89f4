import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import type { Verdict } from '../../src/core/incoming/delivery.ts'
import { SignatureAlarm } from '../../src/receive/checks/signature-alarm.ts'
import { DeliveryHandler } from '../../src/receive/delivery-handler.ts'
import { IntakeLimit } from '../../src/receive/limits/intake-limit.ts'
import { Peers } from '../../src/receive/limits/peers.ts'
import { UploadWatch } from '../../src/receive/limits/upload-watch.ts'
import { openEndpoint } from '../../src/receive/open-endpoint.ts'
import { RefusalLedger } from '../../src/receive/refusal-ledger.ts'
import { eventBody } from '../support/fixtures.ts'
import { openRaw, requestHead } from '../support/raw-http.ts'
import { opensslHmac } from '../support/sign.ts'
import { createTestReceiver, SECRET } from '../support/test-receiver.ts'

const body = eventBody('evt_1')

const good = opensslHmac(SECRET, body)

test.each([
  ['a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked'],
  ['two lengths', 'Content-Length: 5\r\nContent-Length: 6'],
  ['a length with a sign', 'Content-Length: +5'],
  ['chunks in disguise', 'Transfer-Encoding: xchunked'],
  ['a folded header', 'X-Service-Signature: a\r\n b'],
])('a request with %s is refused and its connection closed', async (_what, lines) => {
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
])('a request whose signature headers %s is refused', async (_what, values) => {
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
])('a request with the content type %s is refused, whether or not the endpoint exists', async (contentType) => {
  const { post, path, store } = await createTestReceiver()
  const headers = { 'Content-Type': contentType }
  const answers = [await post(Buffer.from(body), headers), await post(Buffer.from(body), headers, `${path}x`)]
  expect(answers.map((answer) => answer.status)).toEqual([415, 415])
  expect(answers[0]?.text).toBe(answers[1]?.text)
  expect(await store.listEvents({ limit: 1 })).toEqual([])
})

test('a request with two content types is refused', async () => {
  const { url, path } = await createTestReceiver()
  const connection = await openRaw(url)
  const headers = { 'Content-Length': body.length, 'X-Service-Signature': good, 'content-type': 'text/plain' }
  await connection.write(requestHead(path, headers) + body)
  expect(await connection.answer).toMatch(/^HTTP\/1\.1 415 /)
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
])('a signed body with %s is refused', async (_what, members) => {
  const { post, store } = await createTestReceiver()
  const body = eventBody('evt_1', 'file.created').replace('"data":{', `"data":{${members},`)
  expect((await post(body)).status).toBe(400)
  expect(await store.listEvents({ limit: 1 })).toEqual([])
})

test('a signed body with a byte order mark, or that is not UTF-8, is refused', async () => {
  const { post } = await createTestReceiver()
  expect((await post(Buffer.from(eventBody('evt_1', 'file.created', { name: 'ÿ' }), 'latin1'))).status).toBe(400)
  expect((await post(`\uFEFF${eventBody('evt_1')}`)).status).toBe(400)
})

test('a body that other code has read is answered 500 and reported', async () => {
  const { store, clock, heard, notices, endpoint } = await createTestReceiver()
  const handler = new DeliveryHandler({
    clock,
    publish: notices.publish,
    find: {
      hooks: (path) => openEndpoint({ store, intake: store, routes: () => [] }, path),
      callbacks: () => Promise.reject(new Error('no hook is named')),
    },
    intakeLimit: new IntakeLimit({}, () => null),
    peers: new Peers(1),
    uploads: new UploadWatch({ minBytes: 1, everyMs: 1_000 }),
    ledger: new RefusalLedger(store, notices.publish),
    alarm: new SignatureAlarm(),
    recogniseProbe: () => null,
  })
  const server = createServer(async (request, response) => {
    Object.assign(request, { body: JSON.parse(await text(request)) })
    await handler.handle(request, response, { part: 'hooks', path: endpoint.path })
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

test('a prober cannot tell unknown, disabled and active endpoints apart', async () => {
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

test('a delivery to an unknown endpoint is verified against a secret that nobody has', async () => {
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
    const { verdict } = await acceptDelivery(
      parts,
      { endpoint: found, setup: 0 },
      { ...delivery, receivedAt: 1e12, isProbe: false },
    )
    return { verdict, asked }
  }
  const known: { verdict: Verdict; asked: string[] } = await readBy(endpoint.path)
  const unknown = await readBy('nobody')
  expect([known.verdict, unknown.verdict]).toEqual(['bad_signature', 'unknown_endpoint'])
  expect(unknown.asked).toEqual(known.asked)
  expect(unknown.asked).toContain('x-service-signature')
})

test('a delivery looks its endpoint up once, whether or not the endpoint exists', async () => {
  const { store } = await createTestReceiver()
  const paths: string[] = []
  const findEndpoint = (path: string) => {
    paths.push(path)
    return store.findEndpoint(path)
  }
  const { post, endpoint, path } = await createTestReceiver({ store: { ...store, findEndpoint } })
  await post(eventBody('evt_1'))
  await post(eventBody('evt_1'), {}, `${path}x`)
  expect(paths).toEqual([endpoint.path, `${endpoint.path}x`])
})
