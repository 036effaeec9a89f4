import { expect, test } from 'vitest'
import { eventBody } from '../support/fixtures.ts'
import { openRaw, requestHead } from '../support/raw-http.ts'
import { createTestReceiver } from '../support/test-receiver.ts'
import { openTestStore } from '../support/test-store.ts'

// Long enough for a head to arrive on a machine that is busy with other tests.
const patient = { requestTimeout: 2_000, headersTimeout: 2_000, connectionsCheckingInterval: 50 }

const timeouts = { requestTimeout: 300, headersTimeout: 150, connectionsCheckingInterval: 50 }

test('a slow sender of a body is cut off and leaves a row that says how many bytes came', async () => {
  const { url, path, heard, notices } = await createTestReceiver({ timeouts: patient })
  const refused = notices.once('delivery.received')
  const connection = await openRaw(url)
  await connection.write(requestHead(path, { 'Content-Length': 1_000 }))
  await connection.write('{"id":')
  await connection.closed
  await refused
  expect(heard).toMatchObject([{ verdict: 'incomplete', facts: { contentLength: 6 } }])
})

test('a slow sender of headers, or of nothing, is cut off', async () => {
  const { url, path, heard } = await createTestReceiver({ timeouts })
  const [halfway, silent] = [await openRaw(url), await openRaw(url)]
  await halfway.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nX-Slow: `)
  await Promise.all([halfway.closed, silent.closed])
  expect(heard).toEqual([])
})

test('a sender that goes away in the middle of a body costs nothing afterwards', async () => {
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

test('a sender that goes away while its endpoint is looked up leaves its row at once', async () => {
  const inner = openTestStore()
  const asked = Promise.withResolvers<void>()
  const gone = Promise.withResolvers<void>()
  const findEndpoint: typeof inner.findEndpoint = async (path) => {
    asked.resolve()
    await gone.promise
    return inner.findEndpoint(path)
  }
  const { url, path, notices, heard } = await createTestReceiver({ store: { ...inner, findEndpoint } })
  const connection = await openRaw(url)
  await connection.write(`${requestHead(path, { 'Content-Length': 1_000 })}{`)
  await asked.promise
  connection.socket.destroy()
  // By the answer to a later request, the receiver has seen that the first sender is gone.
  await fetch(url)
  const refused = notices.once('delivery.received')
  const before = performance.now()
  gone.resolve()
  await refused
  expect(heard).toMatchObject([{ verdict: 'incomplete', facts: { contentLength: 0 } }])
  // The watch for slow bodies would give it up after two seconds or more.
  expect(performance.now() - before).toBeLessThan(1_500)
})

test('senders that hold their bodies back take no place in the queue', async () => {
  const { url, path, post } = await createTestReceiver({ limits: { inFlight: 2 } })
  for (let n = 0; n < 10; n++) {
    const connection = await openRaw(url)
    await connection.write(requestHead(path, { 'Content-Length': 1_000 }))
    await connection.write('{')
  }
  expect((await post(eventBody('evt_1'))).status).toBe(200)
})

test('connections over the limit are closed at once, and those within it are served', async () => {
  const { url, path } = await createTestReceiver({ limits: { connections: 20, addressShare: 1 } })
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

test('a sender that never ends its head holds up no stop', async () => {
  const { url, path, receiver } = await createTestReceiver({ timeouts: patient })
  const halfway = await openRaw(url)
  await halfway.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nX-Slow: `)
  await receiver.stop()
  await halfway.closed
})
