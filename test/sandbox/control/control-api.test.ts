import { request } from 'node:http'
import { expect } from 'vitest'
import { startSandbox } from '../../../src/sandbox/index.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { call, control } from '../support/call.ts'
import { openReceiver } from '../support/open-receiver.ts'
import { openSandbox, test } from '../support/open-sandbox.ts'

test('the control API drives the whole sandbox from another process', async ({ sandbox }) => {
  const receiver = await openReceiver()
  const key = (await control(sandbox, 'POST', '/keys', { name: 'remote', scope: 'read-only' })).body.data
  await control(sandbox, 'POST', '/webhooks', { url: receiver.url, events: ['*'] })
  const put = await fetch(`${sandbox.origin}/_sandbox/storages/storage_a/content?path=/in/a.txt`, {
    method: 'PUT',
    headers: { 'x-sandbox-control': '1', 'content-type': 'application/json' },
    body: '{"raw": "bytes"}',
  })
  expect(put.status).toBe(200)
  expect((await sandbox.storage('storage_a').read('/in/a.txt')).toString()).toBe('{"raw": "bytes"}')
  expect((await call(sandbox, '/files?service=storage_a&path=/in', { key: key.key })).body.data).toHaveLength(1)

  const transfer = await control(sandbox, 'POST', '/transfers', {
    from: ['storage_a', '/in/a.txt'],
    to: ['storage_b', '/'],
  })
  expect(transfer.body.data).toMatchObject({ status: 'queued', id: expect.stringMatching(/^trf_/) })
  await sandbox.deliveries.until({ type: 'transfer.completed', state: 'delivered' })
  const listed = await control(sandbox, 'GET', '/deliveries?type=transfer.completed')
  expect(listed.body.data[0].attempts[0].status).toBe(200)

  const [event] = (await control(sandbox, 'GET', '/events?type=file.created')).body.data
  await control(sandbox, 'POST', `/events/${event.id}/resend`)
  await sandbox.deliveries.until({ eventId: event.id, state: 'delivered', count: 2 })

  const before = sandbox.clock.now()
  expect((await control(sandbox, 'POST', '/clock/advance', { by: '16m' })).body.data.now).toBe(before + 960_000)
  await control(sandbox, 'DELETE', '/storages/storage_a/content?path=/in/a.txt')
  await control(sandbox, 'DELETE', `/keys/${key.id}`)
  expect((await call(sandbox, '/files?service=storage_a', { key: key.key })).status).toBe(401)
})

test('the control API refuses invalid requests with their error code', async ({ sandbox }) => {
  const status = async (method: string, path: string, body?: unknown) => {
    const reply = await control(sandbox, method, path, body)
    return [reply.status, reply.body.error.code]
  }
  expect(await status('POST', '/keys', {})).toEqual([400, 'invalid_request'])
  expect(await status('POST', '/webhooks', { url: 'file:///etc/passwd' })).toEqual([400, 'invalid_request'])
  expect(await status('GET', '/storages/storage_z')).toEqual([400, 'invalid_request'])
  expect(await status('GET', '/transfers/trf_none')).toEqual([404, 'resource_not_found'])
  expect(await status('POST', '/clock/advance', { by: 'soon' })).toEqual([400, 'invalid_request'])
  expect(await status('GET', '/nowhere')).toEqual([404, 'resource_not_found'])
})

test('the control API changes nothing for a page of another site', async ({ sandbox }) => {
  const write = (headers: Record<string, string>) =>
    fetch(`${sandbox.origin}/_sandbox/keys`, { method: 'POST', headers, body: '{"name":"stolen"}' })
  expect((await write({ 'content-type': 'application/json' })).status).toBe(403)
  expect((await write({ 'x-sandbox-control': '1', origin: 'http://evil.example' })).status).toBe(403)
  expect(sandbox.keys.list()).toEqual([])
  expect((await write({ 'x-sandbox-control': '1', origin: sandbox.origin })).status).toBe(200)
})

test('the control API answers only to its own host names', async () => {
  const sandbox = await openSandbox({ hosts: ['sandbox.internal:4747'] })
  const port = Number(new URL(sandbox.origin).port)
  const statusFor = (host: string) =>
    new Promise((resolve) => {
      request({ port, host: '127.0.0.1', path: '/_sandbox/health', headers: { host } }, (response) => {
        response.resume()
        resolve(response.statusCode)
      }).end()
    })
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, 'sandbox.internal:4747'])
    expect(await statusFor(host)).toBe(200)
  for (const host of [`127.evil.com:${port}`, `127.0.0.1.evil.com:${port}`, '127.0.0.1', `127.0.0.1:${port + 1}`])
    expect(await statusFor(host)).toBe(403)
})

test('an upload of any size is streamed, and refused where a file is in the way', async ({ sandbox }) => {
  const upload = (path: string, body: Uint8Array<ArrayBuffer>) =>
    fetch(`${sandbox.origin}/_sandbox/storages/storage_a/content?path=${path}`, {
      method: 'PUT',
      headers: { 'x-sandbox-control': '1' },
      body,
    })
  expect((await upload('/big.bin', new Uint8Array(20_000_000))).status).toBe(200)
  expect(sandbox.storage('storage_a').list()).toMatchObject([{ path: '/big.bin', size: 20_000_000 }])
  expect((await upload('/empty.bin', new Uint8Array(0))).status).toBe(200)
  expect((await upload('/big.bin/inside.txt', new Uint8Array(1))).status).toBe(409)
  expect((await upload('/.hidden', new Uint8Array(1))).status).toBe(400)
})

test('a change of settings keeps all others, also over a restart', async () => {
  const dir = tempFolder()
  const sandbox = await openSandbox({ dir })
  await control(sandbox, 'PATCH', '/settings', { deleteFolders: true, pagination: false })
  const { body } = await control(sandbox, 'PATCH', '/settings', { plan: 'pro' })
  expect(body.data).toMatchObject({ plan: 'pro', deleteFolders: true, pagination: false, retryAfter: true })
  expect((await control(sandbox, 'PATCH', '/settings', { plan: 'gold' })).status).toBe(400)
  await sandbox.stop()
  const again = await startSandbox({ dir, clock: 'manual' })
  expect(again.settings.get()).toEqual(body.data)
  await again.stop()
})
