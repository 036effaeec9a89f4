import { execFileSync } from 'node:child_process'
import { Webhook } from 'standardwebhooks'
import { expect } from 'vitest'
import { tempFolder } from '../../support/temp-folder.ts'
import { openReceiver } from '../support/open-receiver.ts'
import { openSandbox, test } from '../support/open-sandbox.ts'

const SECRET = 'a secret of twenty-four bytes'

test('an event is delivered to every webhook that wants its type, signed over the raw bytes', async ({ sandbox }) => {
  const receiver = await openReceiver()
  await sandbox.webhooks.add({ url: receiver.url, events: ['file.*'], secret: SECRET })
  await sandbox.webhooks.add({ url: receiver.url, events: ['transfer.completed'], secret: SECRET })
  await sandbox.storage('storage_a').put('/in/report.pdf', 'bytes')
  await sandbox.deliveries.until({ type: 'file.created', state: 'delivered' })

  expect(receiver.received).toHaveLength(1)
  const [{ headers, body } = { headers: {}, body: Buffer.alloc(0) }] = receiver.received
  const mac = execFileSync('openssl', ['dgst', '-sha256', '-hmac', SECRET], { input: body }).toString().trim()
  expect(mac.endsWith(String(headers['x-service-signature']))).toBe(true)
  const event = JSON.parse(body.toString())
  expect(event.id).toMatch(/^evt_/)
  expect(event).toMatchObject({
    type: 'file.created',
    data: { service: 'storage_a', file: { path: '/in/report.pdf', type: 'file', size: 5 } },
  })
})

test('an independent implementation of Standard Webhooks accepts the signatures', async ({ sandbox }) => {
  const receiver = await openReceiver()
  const secret = `whsec_${Buffer.from(SECRET).toString('base64')}`
  await sandbox.webhooks.add({ url: receiver.url, secret, scheme: 'standard-webhooks' })
  sandbox.events.emit('file.created', { service: 'storage_a' })
  await sandbox.deliveries.until({ state: 'delivered' })
  const [{ headers, body } = { headers: {}, body: Buffer.alloc(0) }] = receiver.received
  expect(() => new Webhook(secret).verify(body, headers as Record<string, string>)).not.toThrow()
})

test('a delivery is retried on schedule, with the same id and bytes, until it is accepted', async ({ sandbox }) => {
  const receiver = await openReceiver()
  receiver.statuses = [500, 302]
  await sandbox.webhooks.add({ url: receiver.url, secret: SECRET })
  const event = sandbox.events.emit('file.created', {})
  await sandbox.clock.advance('35s')
  const [delivery] = await sandbox.deliveries.until({ eventId: event.id, state: 'delivered' })
  expect(delivery?.attempts.map(({ status }) => status)).toEqual([500, 302, 200])
  expect(new Set(receiver.received.map(({ body }) => body.toString())).size).toBe(1)
  expect(new Set(receiver.received.map(({ headers }) => headers['x-sandbox-delivery'])).size).toBe(3)
})

test('a delivery fails after its last retry, and a backfill delivers it later', async ({ sandbox }) => {
  const receiver = await openReceiver()
  receiver.fallback = 503
  const webhook = await sandbox.webhooks.add({ url: receiver.url, secret: SECRET })
  const before = sandbox.clock.now()
  const event = sandbox.events.emit('transfer.failed', {})
  await sandbox.clock.advance('8h')
  const [failed] = sandbox.deliveries.list({ eventId: event.id })
  expect(failed).toMatchObject({ state: 'failed', nextAttemptAt: null })
  expect(failed?.attempts).toHaveLength(7)

  receiver.fallback = 200
  expect(await sandbox.deliveries.backfill(webhook.id, before)).toEqual({ queued: 1 })
  await sandbox.deliveries.until({ eventId: event.id, state: 'delivered' })
  expect(await sandbox.deliveries.backfill(webhook.id, before)).toEqual({ queued: 0 })
})

test('a restart keeps pending deliveries, keys, webhooks and an advanced clock', async () => {
  const dir = tempFolder()
  const receiver = await openReceiver()
  receiver.statuses = [500]
  const first = await openSandbox({ dir })
  await first.webhooks.add({ url: receiver.url, secret: SECRET })
  const { key } = await first.keys.create({ name: 'kept' })
  await first.clock.advance('3d')
  const now = first.clock.now()
  await first.storage('storage_c').put('/kept.txt', 'kept')
  await first.deliveries.until({ state: 'pending' })
  await first.clock.advance(0)
  const entries = first.storage('storage_c').list()
  await first.stop()

  const second = await openSandbox({ dir })
  expect(second.clock.now()).toBe(now)
  expect(second.keys.list().map((each) => each.key)).toEqual([key])
  expect(second.storage('storage_c').list()).toEqual(entries)
  await second.clock.advance('5s')
  const [delivery] = await second.deliveries.until({ state: 'delivered' })
  expect(delivery?.attempts.map(({ status }) => status)).toEqual([500, 200])
  expect(second.events.list()).toHaveLength(1)
})

test('a webhook with two secrets signs with both', async ({ sandbox }) => {
  const receiver = await openReceiver()
  const [old, fresh] = ['old-secret-old-secret', 'new-secret-new-secret'].map((text) =>
    Buffer.from(text).toString('base64'),
  )
  await sandbox.webhooks.add({
    url: receiver.url,
    secret: String(fresh),
    moreSecrets: [String(old)],
    scheme: 'standard-webhooks',
  })
  sandbox.events.emit('file.deleted', {})
  await sandbox.deliveries.until({ state: 'delivered' })
  const [{ headers, body } = { headers: {}, body: Buffer.alloc(0) }] = receiver.received
  for (const secret of [old, fresh])
    expect(() => new Webhook(String(secret)).verify(body, headers as Record<string, string>)).not.toThrow()
})

test('pending deliveries follow a webhook that is changed, disabled or removed', async () => {
  const sandbox = await openSandbox({ retryScheduleMs: [1_000] })
  const [first, second] = [await openReceiver(), await openReceiver()]
  first.fallback = 500
  const { id } = await sandbox.webhooks.add({ url: first.url, secret: SECRET })
  sandbox.events.emit('file.created', {})
  await sandbox.clock.advance(0)
  await sandbox.webhooks.edit(id, { url: second.url, secrets: ['another secret, as long'], events: ['file.*'] })
  await sandbox.clock.advance('1s')
  expect([first.received.length, second.received.length]).toEqual([1, 1])
  expect(second.received[0]?.headers['x-service-signature']).not.toBe(first.received[0]?.headers['x-service-signature'])

  sandbox.events.emit('transfer.failed', {})
  await sandbox.webhooks.enable(id, false)
  sandbox.events.emit('file.created', {})
  await sandbox.webhooks.remove(id)
  await sandbox.clock.advance('1h')
  expect(second.received).toHaveLength(1)
  expect(sandbox.webhooks.list()).toEqual([])
  await expect(sandbox.webhooks.edit(id, {})).rejects.toMatchObject({ code: 'not_found' })
})

test('a webhook gets events of its storages, and those of none', async ({ sandbox }) => {
  const receiver = await openReceiver()
  await sandbox.webhooks.add({ url: receiver.url, storages: ['storage_b'], secret: SECRET })
  await sandbox.storage('storage_a').put('/unheard.txt', 'x')
  await sandbox.storage('storage_b').put('/heard.txt', 'x')
  sandbox.events.emit('transfer.failed', { transfer: {} })
  await sandbox.clock.advance(0)
  expect(receiver.received.map(({ body }) => JSON.parse(body.toString()).data.service)).toEqual([
    'storage_b',
    undefined,
  ])
})
