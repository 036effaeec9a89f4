import { connect, Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { DEFAULT_LIMITS, IntakeLimit } from '../../../src/receive/limits/intake-limit.ts'
import { Peers } from '../../../src/receive/limits/peers.ts'
import { UploadWatch } from '../../../src/receive/limits/upload-watch.ts'
import { eventBody } from '../../support/fixtures.ts'
import { openRaw, requestHead } from '../../support/raw-http.ts'
import { createTestReceiver } from '../../support/test-receiver.ts'

const MEBIBYTE = 1_048_576
const timeouts = { connectionsCheckingInterval: 50, requestTimeout: 60_000, headersTimeout: 60_000 }

/** Connects from another loopback address, as a stranger from another network. */
async function connectFrom(localAddress: string, url: string): Promise<Socket> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()).once('close', () => resolve()))
  return socket
}

const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()))

test.skipIf(process.platform !== 'linux')(
  'one address takes at most its share of the connections, and others are served beside it',
  async () => {
    const { url, post } = await createTestReceiver({ limits: { connections: 20, addressShare: 0.5 } })
    const within = await Promise.all(Array.from({ length: 10 }, () => connectFrom('127.0.0.9', url)))
    await closed(await connectFrom('127.0.0.9', url))
    expect(within.every((socket) => !socket.destroyed)).toBe(true)
    expect((await post(eventBody('evt_1'))).status).toBe(200)
    within[0]?.destroy()
    await post(eventBody('evt_2'))
    const next = await connectFrom('127.0.0.9', url)
    next.write(requestHead('/hooks/x', { 'Content-Length': 0 }))
    await new Promise((resolve) => next.once('data', resolve))
  },
)

test('64 connections that hold a mebibyte each leave room for every small delivery, of their address too', async () => {
  const { url, path, post } = await createTestReceiver({
    timeouts: { ...timeouts, connectionsCheckingInterval: 60_000 },
  })
  const held = 'x'.repeat(MEBIBYTE - 1)
  for (let n = 0; n < 64; n++) {
    const { socket } = await openRaw(url)
    socket.write(requestHead(path, { 'Content-Length': MEBIBYTE }) + held)
  }
  for (let n = 0; n < 20; n++) expect((await post(eventBody(`evt_${n}`))).status).toBe(200)
})

test('a body that stops arriving is cut off long before the request times out', async () => {
  const { url, path, notices } = await createTestReceiver({ timeouts })
  const lost = notices.once('delivery.received')
  const connection = await openRaw(url)
  await connection.write(requestHead(path, { 'Content-Length': 100_000 }) + 'x'.repeat(99_000))
  await connection.closed
  expect(await lost).toMatchObject({ verdict: 'incomplete', facts: { contentLength: 99_000 } })
})

test('a body that keeps arriving at the minimum rate is not cut off', () => {
  const uploads = new UploadWatch({ minBytes: 10, everyMs: 1_000 })
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  uploads.start()
  const upload = {
    length: 0,
    isCut: false,
    cutOff() {
      upload.isCut = true
    },
  }
  uploads.add(upload)
  for (let n = 0; n < 20; n++) {
    upload.length += 10
    vi.advanceTimersByTime(1_000)
  }
  expect(upload.isCut).toBe(false)
  vi.advanceTimersByTime(2_000)
  expect(upload.isCut).toBe(false)
  vi.advanceTimersByTime(1_000)
  expect(upload.isCut).toBe(true)
  uploads.stop()
})

test('bodies for a path without an endpoint are read blindly up to 64 KiB and take no room', async () => {
  const { url, path, post, heard } = await createTestReceiver({ limits: { bytesInFlight: MEBIBYTE } })
  for (let n = 0; n < 40; n++) {
    const { socket } = await openRaw(url)
    socket.write(requestHead(`${path}x`, { 'Content-Length': 60_000 }) + 'x'.repeat(59_000))
  }
  expect((await post(eventBody('evt_1', 'file.created', { note: 'n'.repeat(400_000) }))).status).toBe(200)
  const large = await openRaw(url)
  await large.write(requestHead(`${path}x`, { 'Content-Length': 100_000 }))
  expect(await large.answer).toMatch(/^HTTP\/1\.1 401 [\s\S]*connection: close/i)
  const endless = await openRaw(url)
  await endless.write(requestHead(`${path}x`, { 'Transfer-Encoding': 'chunked' }))
  await endless.write(`11000\r\n${'x'.repeat(0x11000)}\r\n`)
  expect(await endless.answer).toMatch(/^HTTP\/1\.1 401 /)
  expect(heard.flatMap((notice) => (notice.kind === 'delivery.received' ? [notice.verdict] : []))).toEqual([
    'accepted',
    'unknown_endpoint',
    'unknown_endpoint',
  ])
})

test('an address without an endpoint closes the connection of a body that it does not read', async () => {
  const { url } = await createTestReceiver()
  const connection = await openRaw(url)
  await connection.write(requestHead('/elsewhere', { 'Content-Length': 10_000_000 }) + 'x'.repeat(1_000))
  expect(await connection.answer).toMatch(/^HTTP\/1\.1 404 /)
  await connection.closed
})

test('a connection that sends requests without waiting for answers is closed after eight', async () => {
  const { url, path, heard } = await createTestReceiver()
  const connection = await openRaw(url)
  await connection.write(requestHead(path, { 'Content-Length': 2 }).concat('{}').repeat(500))
  expect(await connection.answer).toMatch(/^HTTP\/1\.1 401 /)
  await connection.closed
  expect(heard).toHaveLength(8)
})

test('an address that floods below HTTP is kept out for ten seconds, and forgotten after', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const peers = new Peers(10)
  const open = (remoteAddress: string) => {
    const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress })
    peers.join(socket)
    return socket
  }
  peers.keepOut(open('192.0.2.1'))
  expect([open('192.0.2.1').destroyed, open('192.0.2.2').destroyed]).toEqual([true, false])
  vi.advanceTimersByTime(10_000)
  expect(open('192.0.2.1').destroyed).toBe(false)
})

test('the default rate of an address refuses what exceeds its burst in one moment', () => {
  const limit = new IntakeLimit(DEFAULT_LIMITS, () => null)
  const now = 1_000_000
  for (let n = 0; n < DEFAULT_LIMITS.addressBurst; n++) expect(limit.admit('192.0.2.1', now)).toBeNull()
  expect(limit.admit('192.0.2.1', now)).toMatchObject({ verdict: 'overloaded', reason: 'address_rate' })
  expect(limit.admit('192.0.2.2', now)).toBeNull()
  expect(limit.admit('192.0.2.1', now + 1)).toBeNull()
})
