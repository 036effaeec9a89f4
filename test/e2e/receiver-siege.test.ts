import { expect, test } from 'vitest'
import { postDelivery } from '../support/post-delivery.ts'
import { openRaw, type RawConnection, requestHead } from '../support/raw-http.ts'
import { type ReceiverProcess, startReceiverProcess } from '../support/receiver-process.ts'

const SECRET = 'a-secret-that-outlasts-the-siege'
const MEBIBYTE = 1_048_576
/** Memory that Node needs under load, garbage included. The attack sends several times as much. */
const MAX_GROWTH = 300 * MEBIBYTE

/** Sends a valid delivery and returns the status of its answer. */
async function deliver({ url, path }: ReceiverProcess, id: string): Promise<number> {
  return (await postDelivery(`${url}${path}`, SECRET, id)).status
}

async function requireModest(receiver: ReceiverProcess): Promise<void> {
  const { started, peak } = await receiver.memory()
  expect(peak - started).toBeLessThan(MAX_GROWTH)
}

test('a receiver under endless, huge and slow bodies stays in bounded memory and keeps serving', async () => {
  const receiver = await startReceiverProcess({ secret: SECRET, limits: {}, timeouts: {} })
  const { url, path } = receiver
  const chunk = Buffer.from(`10000\r\n${'x'.repeat(65_536)}\r\n`)
  // Each would send 16 MiB, together nearly 1 GiB.
  const endless = Array.from({ length: 60 }, async () => {
    const connection = await openRaw(url)
    await connection.write(requestHead(path, { 'Transfer-Encoding': 'chunked' }))
    let chunks = 0
    while (chunks < 256 && (await connection.write(chunk))) chunks += 1
    await connection.closed
    return chunks
  })
  const huge = Array.from({ length: 60 }, async () => {
    const connection = await openRaw(url)
    await connection.write(requestHead(path, { 'Content-Length': 1_000_000_000 }))
    const answer = await connection.answer
    await connection.closed
    return [answer.slice(0, 12), connection.socket.bytesWritten < 4_096]
  })
  const dripping: RawConnection[] = []
  for (let n = 0; n < 60; n++) {
    const connection = await openRaw(url)
    await connection.write(`${requestHead(path, { 'Content-Length': 1_000 })}{`)
    dripping.push(connection)
  }
  expect(await deliver(receiver, 'evt_amid')).toBe(200)
  expect((await Promise.all(endless)).every((chunks) => chunks < 256)).toBe(true)
  expect(new Set((await Promise.all(huge)).map(String))).toEqual(new Set(['HTTP/1.1 413,true']))
  await requireModest(receiver)
  expect(await deliver(receiver, 'evt_after')).toBe(200)
}, 60_000)

test('a receiver holds 5,000 idle connections in bounded memory, and serves again after them', async () => {
  const patient = { requestTimeout: 300_000, headersTimeout: 300_000 }
  const limits = { addressShare: 1 }
  const receiver = await startReceiverProcess({ secret: SECRET, limits, timeouts: patient })
  const connections: RawConnection[] = []
  const over = Promise.withResolvers<void>()
  let closed = 0
  for (let batch = 0; batch < 51; batch++) {
    const opened = await Promise.all(Array.from({ length: 100 }, () => openRaw(receiver.url)))
    for (const connection of opened) {
      connections.push(connection)
      void connection.closed.then(() => {
        closed += 1
        if (closed === 100) over.resolve()
      })
    }
  }
  await over.promise
  expect(connections).toHaveLength(5_100)
  await requireModest(receiver)
  expect(closed).toBe(100)
  for (const { socket } of connections) socket.destroy()
  await Promise.all(connections.map((connection) => connection.closed))
  // A new connection may be closed until the receiver has noticed that all others are gone.
  let status = 0
  for (let attempt = 0; attempt < 1_000 && status !== 200; attempt++) {
    status = await deliver(receiver, 'evt_after').catch(() => 0)
  }
  expect(status).toBe(200)
}, 60_000)
