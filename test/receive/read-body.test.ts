import { expect, test } from 'vitest'
import { eventBody } from '../support/fixtures.ts'
import { openRaw, requestHead } from '../support/raw-http.ts'
import { opensslHmac } from '../support/sign.ts'
import { createTestReceiver, SECRET } from '../support/test-receiver.ts'

const GIGABYTE = 1_000_000_000

const LARGE_CHUNK = `10000\r\n${'x'.repeat(65_536)}\r\n`

test('a body with too large a Content-Length is refused after a few kilobytes', async () => {
  const { url, path, heard, endpoint } = await createTestReceiver()
  const connection = await openRaw(url)
  await connection.write(requestHead(path, { 'Content-Length': GIGABYTE }))
  expect(await connection.answer).toMatch(/^HTTP\/1\.1 413 [\s\S]*\r\nConnection: close/i)
  await connection.closed
  expect(connection.socket.bytesWritten).toBeLessThan(4_096)
  // It is told which endpoint it was for, as of any other refusal.
  const about = { endpoint: endpoint.id, endpointName: 'main' }
  expect(heard).toMatchObject([{ verdict: 'too_large', facts: { contentLength: GIGABYTE }, ...about }])
})

test('a body that is too large is refused before it is sent when its sender asks first', async () => {
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

test('an endless body is refused soon after the limit', async () => {
  const { url, path, heard } = await createTestReceiver({ limits: { bodyBytes: 131_072 } })
  const connection = await openRaw(url)
  await connection.write(requestHead(path, { 'Transfer-Encoding': 'chunked' }))
  let chunks = 0
  while (chunks < 2_000 && (await connection.write(LARGE_CHUNK))) chunks += 1
  await connection.closed
  // Two chunks are the limit; the rest was in the buffers of both systems.
  expect(chunks).toBeLessThan(1_000)
  expect(heard).toMatchObject([{ kind: 'delivery.received', verdict: 'too_large' }])
})

test('a body of many chunks of a few bytes is refused after 2,000 of them', async () => {
  const { url, path, heard, notices } = await createTestReceiver()
  const refused = notices.once('delivery.received')
  const connection = await openRaw(url)
  await connection.write(requestHead(path, { 'Transfer-Encoding': 'chunked' }))
  await connection.write('1\r\nx\r\n'.repeat(100_000))
  expect(await connection.answer).toMatch(/^HTTP\/1\.1 408 /)
  await connection.closed
  await refused
  expect(heard).toMatchObject([{ verdict: 'incomplete', facts: { contentLength: 2_001 } }])
})

test('a small body that arrives byte by byte is accepted', async () => {
  const { url, path, post } = await createTestReceiver()
  const connection = await openRaw(url)
  const body = eventBody('evt_1', 'file.created', { note: 'n'.repeat(1_500) })
  const chunks = Buffer.from([...body].map((character) => `1\r\n${character}\r\n`).join(''))
  await connection.write(
    requestHead(path, { 'Transfer-Encoding': 'chunked', 'X-Service-Signature': opensslHmac(SECRET, body) }),
  )
  await connection.write(chunks)
  await connection.write('0\r\n\r\n')
  expect(await connection.answer).toMatch(/^HTTP\/1\.1 200 /)
  expect((await post(body)).body.data.verdict).toBe('duplicate')
})

test.each(['gzip', 'deflate', 'br', 'identity, gzip', 'GZIP', ''])(
  'a body with the encoding "%s" is refused',
  async (encoding) => {
    const { url, path } = await createTestReceiver()
    const body = eventBody('evt_1')
    const connection = await openRaw(url)
    const signature = opensslHmac(SECRET, body)
    const headers = { 'Content-Length': body.length, 'X-Service-Signature': signature, 'Content-Encoding': encoding }
    await connection.write(requestHead(path, headers) + body)
    expect(await connection.answer).toMatch(/^HTTP\/1\.1 415 /)
  },
)

test('a body just within the limits is accepted', async () => {
  const { post } = await createTestReceiver()
  const keys = Array.from({ length: 9_900 }, (_, n) => `"k${n}":${n}`).join(',')
  const body = eventBody('evt_1').replace('"data":{', `"data":{"deep":${'['.repeat(62)}${']'.repeat(62)},${keys},`)
  expect((await post(body)).status).toBe(200)
})
