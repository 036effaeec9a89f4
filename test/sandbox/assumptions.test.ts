import { request } from 'node:http'
import { expect, test } from 'vitest'
import { call } from './support/call.ts'
import { openAccount } from './support/open-account.ts'
import { openReceiver } from './support/open-receiver.ts'

test('refusals outside of operations name their assumptions, too', async () => {
  const { sandbox, ask, key } = await openAccount()
  const assumed = async (reply: Promise<{ headers: Headers }>) => (await reply).headers.get('x-sandbox-assumed')
  const broken = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"service":' }
  expect(await assumed(ask('/files/list', broken))).toBe('N2,N8,N17')
  expect(await assumed(ask('/migrations'))).toBe('N2,N8,N17')
  expect(await assumed(fetch(`${sandbox.origin}/v2/files`, { headers: { authorization: `Bearer ${key}` } }))).toBe(
    'N2,N8,N17,N33',
  )
  expect(await assumed(fetch(`${sandbox.downloadOrigin}/download/storage_a/none`))).toBe('N10')
})

test('replies name the assumptions of a form, a setting or a type of event', async () => {
  const { sandbox, ask } = await openAccount()
  const body = JSON.stringify({ service: 'storage_a', path: '/' })
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  expect((await ask('/files/list', post)).headers.get('x-sandbox-assumed')).toBe('N1,N3,N4,N5,N6')
  sandbox.settings.update({ plan: 'pro', rateHeadersOnSuccess: true })
  expect((await ask('/files?service=storage_a')).headers.get('x-sandbox-assumed')).toBe('N1,N4,N5,N6,N16')
  const receiver = await openReceiver()
  await sandbox.webhooks.add({ url: receiver.url, events: ['transfer.*'] })
  await (await sandbox.transfers.start({ from: ['storage_a', '/empty.txt'], to: ['storage_b', '/'] })).done
  await sandbox.deliveries.until({ state: 'delivered' })
  expect(receiver.received[0]?.headers['x-sandbox-assumed']).toBe('N18,N19,N21,N22,N23,N30')
})

test('4.1, 5: the Bearer scheme is accepted in any case, other credentials are not', async () => {
  const { sandbox, key } = await openAccount()
  const status = async (authorization: string) =>
    (await call(sandbox, '/files?service=storage_a', { headers: { authorization } })).status
  expect(await status(`bearer ${key}`)).toBe(200)
  for (const wrong of [key, `Basic ${key}`, 'Bearer', `Bearer ${key} x`, `Bearer ${key.slice(0, -1)}`])
    expect([wrong, await status(wrong)]).toEqual([wrong, 401])
})

test('5: a custom scope ends at its storages, in every operation', async () => {
  const { sandbox, id } = await openAccount()
  await sandbox.storage('storage_b').put('/b.txt', 'b')
  const custom = { custom: ['files:read', 'files:delete'] as const, storages: ['storage_b'] as const }
  const scope = { custom: [...custom.custom], storages: [...custom.storages] }
  const { key } = await sandbox.keys.create({ name: 'of b', scope })
  for (const [method, path] of [
    ['GET', '/files?service=storage_a'],
    ['GET', `/files/${id}?service=storage_a`],
    ['GET', `/files/${id}/download?service=storage_a`],
    ['DELETE', `/files/${id}?service=storage_a`],
    ['DELETE', '/files/unknown?service=storage_a'],
  ] as const)
    expect([path, (await call(sandbox, path, { key, method })).status]).toEqual([path, 403])
  expect((await call(sandbox, '/files?service=storage_b', { key })).status).toBe(200)
  expect(sandbox.storage('storage_a').list()).not.toEqual([])
})

test('4.2, 4.3: an invalid parameter is refused by name', async () => {
  const { ask } = await openAccount()
  for (const [query, parameter] of [
    ['service=storage_z', 'service'],
    ['service=storage_a&service=storage_b', 'service'],
    ['service=storage_a&page=0', 'page'],
    ['service=storage_a&page=1.5', 'page'],
    ['service=storage_a&limit=0', 'limit'],
    ['service=storage_a&limit=many', 'limit'],
    ['service=storage_a&sort=owner', 'sort'],
    ['service=storage_a&recursive=yes', 'recursive'],
  ]) {
    const { status, body } = await ask(`/files?${query}`)
    expect([query, status, body.error.code, body.error.details.parameter]).toEqual([
      query,
      400,
      'invalid_request',
      parameter,
    ])
  }
  expect((await ask('/files?service=storage_a&path=/../..')).status).toBe(400)
  expect((await ask('/files?service=storage_a&page=99')).body).toMatchObject({ data: [], pagination: { page: 99 } })
})

test('the control API refuses pages of a null origin, and the download host any other host name', async () => {
  const { sandbox } = await openAccount()
  const framed = await fetch(`${sandbox.origin}/_sandbox/keys`, { headers: { origin: 'null' } })
  expect(framed.status).toBe(403)
  const port = Number(new URL(sandbox.downloadOrigin).port)
  const status = await new Promise((resolve) => {
    request({ port, host: '127.0.0.1', path: '/', headers: { host: `evil.example:${port}` } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).end()
  })
  expect(status).toBe(403)
})
