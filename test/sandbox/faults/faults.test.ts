import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import type { FaultInput, Sandbox } from '../../../src/sandbox/index.ts'
import { call } from '../support/call.ts'
import { openReceiver, type Received } from '../support/open-receiver.ts'
import { openSandbox } from '../support/open-sandbox.ts'

const SECRET = 'a secret of twenty-four bytes'

async function withKey(seed = 1) {
  const sandbox = await openSandbox({ seed })
  const { key } = await sandbox.keys.create({ name: 'test' })
  return { sandbox, key }
}

async function statuses(sandbox: Sandbox, key: string, count: number): Promise<number[]> {
  const found: number[] = []
  for (let n = 0; n < count; n++) found.push((await call(sandbox, '/files?service=storage_a', { key })).status)
  return found
}

test('a fault strikes as often as `times` says, after `skip` calls', async () => {
  const { sandbox, key } = await withKey()
  await sandbox.faults.add({ on: 'files.list', status: 503, times: 2, skip: 1 })
  expect(await statuses(sandbox, key, 5)).toEqual([200, 503, 503, 200, 200])
  expect(sandbox.faults.list()).toMatchObject([{ seen: 3, struck: 2 }])
  await sandbox.faults.clear()
  expect(sandbox.faults.list()).toEqual([])
})

test('faults strike the same calls under the same seed, and others under another', async () => {
  const runs: number[][] = []
  for (const seed of [7, 7, 8]) {
    const { sandbox, key } = await withKey(seed)
    await sandbox.faults.add({ on: '*', status: 500, probability: 0.5 })
    runs.push(await statuses(sandbox, key, 24))
  }
  expect(runs[1]).toEqual(runs[0])
  expect(runs[2]).not.toEqual(runs[0])
  expect(new Set(runs[0])).toEqual(new Set([200, 500]))
})

test('faults spoil a reply in every way that a network and a gateway can', async () => {
  const { sandbox, key } = await withKey()
  await sandbox.storage('storage_a').put('/a.txt', 'x')
  const struck = async (fault: Partial<FaultInput>) => {
    await sandbox.faults.clear()
    await sandbox.faults.add({ on: 'files.list', ...fault })
    return fetch(`${sandbox.url}/files?service=storage_a`, { headers: { authorization: `Bearer ${key}` } })
  }
  await expect(struck({ reset: true })).rejects.toThrow()
  const garbage = await struck({ garbage: true })
  expect(garbage.status).toBe(200)
  await expect(garbage.json()).rejects.toThrow()
  const html = await struck({ html: true })
  expect([html.status, html.headers.get('content-type')]).toEqual([502, 'text/html; charset=utf-8'])
  await expect((await struck({ cutAfterBytes: 10 })).text()).rejects.toThrow()
  const limited = await struck({ status: 429 })
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '1'])
  const contradicting = await struck({ status: 429, contradictRateHeaders: true })
  expect(contradicting.headers.get('x-ratelimit-remaining')).toBe('59')
  const trickling = await struck({ bytesPerSecond: 4_000 })
  expect(await trickling.json()).toMatchObject({ data: [{ name: 'a.txt' }] })
})

test('a stall of 0 bytes sends the headers and then nothing, until the client gives up', async () => {
  const { sandbox, key } = await withKey()
  await sandbox.faults.add({ on: 'files.list', stallAfterBytes: 5 })
  const abort = new AbortController()
  const response = await fetch(`${sandbox.url}/files?service=storage_a`, {
    headers: { authorization: `Bearer ${key}` },
    signal: abort.signal,
  })
  const reader = response.body?.getReader()
  expect((await reader?.read())?.value).toHaveLength(5)
  const next = reader?.read()
  abort.abort()
  await expect(next).rejects.toThrow()
})

test('a fault with `afterwards` strikes after the operation has happened', async () => {
  const { sandbox, key } = await withKey()
  const { id } = await sandbox.storage('storage_a').put('/a.txt', 'x')
  await sandbox.faults.add({ on: 'files.delete', status: 504, afterwards: true, times: 1 })
  const remove = () => call(sandbox, `/files/${id}?service=storage_a`, { key, method: 'DELETE' })
  expect((await remove()).status).toBe(504)
  expect((await remove()).status).toBe(404)
})

test('a fault cuts a download off, and the rest can still be fetched', async () => {
  const { sandbox, key } = await withKey()
  const bytes = Buffer.alloc(300_000, 'abc')
  const { id } = await sandbox.storage('storage_a').put('/big.bin', bytes)
  await sandbox.faults.add({ on: 'download', cutAfterBytes: 100_000, times: 1 })
  const { body } = await call(sandbox, `/files/${id}/download?service=storage_a`, { key })
  const received: Uint8Array[] = []
  const reading = (async () => {
    for await (const chunk of (await fetch(body.data.downloadUrl)).body ?? []) received.push(chunk)
  })()
  await expect(reading).rejects.toThrow()
  expect(Buffer.concat(received)).toHaveLength(100_000)
  const rest = await fetch(body.data.downloadUrl, { headers: { range: 'bytes=100000-' } })
  expect(Buffer.from(await rest.arrayBuffer())).toEqual(bytes.subarray(100_000))
})

async function deliverWith(fault: Partial<FaultInput>) {
  const sandbox = await openSandbox()
  const receiver = await openReceiver()
  await sandbox.webhooks.add({ url: receiver.url, secret: SECRET, scheme: 'timestamped' })
  await sandbox.faults.add({ on: 'delivery', ...fault })
  return { sandbox, receiver }
}

/** Whether the signature fits the body, and its age in seconds. */
function check(sandbox: Sandbox, { headers, body }: Received): { fits: boolean; ageSeconds: number } {
  const [, timestamp = '', signature] = /^t=(\d+),v1=(\w+)$/.exec(String(headers['x-service-signature'])) ?? []
  const input = Buffer.concat([Buffer.from(`${timestamp}.`), body])
  const mac = execFileSync('openssl', ['dgst', '-sha256', '-hmac', SECRET], { input }).toString().trim()
  return { fits: mac.endsWith(` ${signature}`), ageSeconds: Math.floor(sandbox.clock.now() / 1000) - Number(timestamp) }
}

test('faults sign deliveries with a wrong secret, change them and date them back', async () => {
  for (const [fault, expected] of [
    [{ signature: 'bad' }, { fits: false, ageSeconds: 0 }],
    [{ tamper: true }, { fits: false, ageSeconds: 0 }],
    [{ signature: 'stale' }, { fits: true, ageSeconds: 3600 }],
  ] as const) {
    const { sandbox, receiver } = await deliverWith(fault)
    sandbox.events.emit('file.created', {})
    await sandbox.deliveries.until({ state: 'delivered' })
    expect(receiver.received.map((each) => check(sandbox, each))).toEqual([expected])
  }
})

test('a fault repeats or delays each delivery only once', async () => {
  const { sandbox, receiver } = await deliverWith({ duplicate: true })
  sandbox.events.emit('file.created', {})
  await sandbox.clock.advance('1h')
  expect(receiver.received).toHaveLength(2)
  await sandbox.faults.clear()
  await sandbox.faults.add({ on: 'delivery', delayMs: 60_000 })
  sandbox.events.emit('file.created', {})
  await sandbox.clock.advance('1m')
  expect(receiver.received).toHaveLength(3)
})

test('a fault on `*` does not strike deliveries', async () => {
  const { sandbox, receiver } = await deliverWith({ on: '*', status: 500, times: 1 })
  sandbox.events.emit('file.created', {})
  await sandbox.clock.advance(0)
  expect(receiver.received).toHaveLength(1)
  expect(sandbox.faults.list()).toMatchObject([{ seen: 0 }])
})

test('faults drop, repeat, delay and reorder deliveries', async () => {
  const lost = await deliverWith({ drop: true, type: 'transfer.*' })
  lost.sandbox.events.emit('transfer.failed', {})
  lost.sandbox.events.emit('file.created', {})
  await lost.sandbox.deliveries.until({ state: 'delivered' })
  await lost.sandbox.clock.advance('8h')
  expect(lost.receiver.received).toHaveLength(1)

  const repeated = await deliverWith({ duplicate: true, times: 1 })
  repeated.sandbox.events.emit('file.created', {})
  await repeated.sandbox.deliveries.until({ state: 'delivered', count: 2 })
  expect(new Set(repeated.receiver.received.map(({ body }) => body.toString())).size).toBe(1)

  const delayed = await deliverWith({ delayMs: 60_000, times: 1 })
  delayed.sandbox.events.emit('file.created', {})
  await delayed.sandbox.clock.advance('59s')
  expect(delayed.receiver.received).toHaveLength(0)
  await delayed.sandbox.clock.advance('1s')
  expect(delayed.receiver.received).toHaveLength(1)

  const reordered = await deliverWith({ reorder: true, times: 1 })
  const first = reordered.sandbox.events.emit('file.created', {})
  await reordered.sandbox.clock.advance(0)
  const second = reordered.sandbox.events.emit('file.created', {})
  await reordered.sandbox.deliveries.until({ state: 'delivered', count: 2 })
  expect(reordered.receiver.received.map(({ body }) => JSON.parse(body.toString()).id)).toEqual([second.id, first.id])
})

test('a delivery that a fault held for its minute is not sent a second time by the next one', async () => {
  const { sandbox, receiver } = await deliverWith({ reorder: true, times: 1 })
  const first = sandbox.events.emit('file.created', {})
  await sandbox.clock.advance('59s')
  receiver.isSilent = true
  const moved = sandbox.clock.advance('1s')
  while (receiver.received.length < 1) await new Promise(setImmediate)
  receiver.isSilent = false
  const second = sandbox.events.emit('file.created', {})
  await sandbox.deliveries.until({ eventId: second.id, state: 'delivered' })
  expect(sandbox.deliveries.list({ eventId: first.id })).toMatchObject([{ state: 'sending' }])
  await sandbox.stop()
  await moved
})
