import { expect, test } from 'vitest'
import type { z } from 'zod'
import * as wire from '../../src/sandbox/files-api/wire-schema.ts'
import type { Sandbox } from '../../src/sandbox/index.ts'
import { call, control, type Reply } from './support/call.ts'
import { openAccount } from './support/open-account.ts'
import { openReceiver } from './support/open-receiver.ts'

function expectBody(reply: Reply, status: number, schema: z.ZodType): void {
  expect([reply.status, schema.safeParse(reply.body).error?.issues ?? []]).toEqual([status, []])
}

const FORMS = [
  {
    form: 'primary',
    list: wire.listSchema,
    details: wire.succeeds(wire.detailsSchema),
    url: wire.succeeds(wire.downloadUrlSchema),
    deleted: wire.succeeds(wire.deletedSchema),
    error: wire.errorSchema,
  },
  {
    form: 'alternative',
    list: wire.alternativeListSchema,
    details: wire.alternativelySucceeds(wire.alternativeDetailsSchema),
    url: wire.alternativelySucceeds(wire.alternativeDownloadUrlSchema),
    deleted: wire.alternativelySucceeds(wire.deletedSchema),
    error: wire.alternativeErrorSchema,
  },
] as const

for (const { form, ...schemas } of FORMS) {
  test(`2.1 to 2.5, 4.3 to 4.6: every operation replies in the ${form} form`, async () => {
    const { ask, on } = await openAccount({ form })
    expectBody(await ask('/files?service=storage_a&recursive=true'), 200, schemas.list)
    expectBody(await ask(`${on}?service=storage_a`), 200, schemas.details)
    expectBody(await ask(`${on}/download?service=storage_a`), 200, schemas.url)
    expectBody(await ask(`${on}?service=storage_a`, { method: 'DELETE' }), 200, schemas.deleted)
  })

  test(`7: every refusal comes in the ${form} form`, async () => {
    const { sandbox, ask, on } = await openAccount({ form })
    expectBody(await ask('/files'), 400, schemas.error)
    expectBody(await call(sandbox, '/files?service=storage_a'), 401, schemas.error)
    const { key } = await sandbox.keys.create({ name: 'reader', scope: 'read-only' })
    expectBody(await call(sandbox, `${on}?service=storage_a`, { key, method: 'DELETE' }), 403, schemas.error)
    expectBody(await ask('/files/unknown?service=storage_a'), 404, schemas.error)
    await sandbox.faults.add({ on: 'files.get', status: 429, times: 1 })
    expectBody(await ask(`${on}?service=storage_a`), 429, schemas.error)
    await sandbox.faults.add({ on: 'files.get', status: 502, times: 1 })
    expectBody(await ask(`${on}?service=storage_a`), 502, schemas.error)
  })
}

test('2.1: folders have no type or size in the primary form, and a size of 0 in the alternative form', async () => {
  const { sandbox, ask } = await openAccount()
  const folderOf = (items: { type: string }[]) => items.find(({ type }) => type === 'folder')
  const primary = folderOf((await ask('/files?service=storage_a')).body.data)
  expect(primary).not.toHaveProperty('size')
  expect(primary).not.toHaveProperty('mimeType')
  sandbox.settings.update({ form: 'alternative' })
  expect(folderOf((await ask('/files?service=storage_a')).body.data.files)).toMatchObject({ size: 0 })
})

test('2.6, 6: every type of event is sent in the documented shape', async () => {
  const { sandbox } = await openAccount()
  const receiver = await openReceiver()
  await sandbox.webhooks.add({ url: receiver.url, secret: 'a secret of twenty-four bytes' })
  const storage = sandbox.storage('storage_a')
  await storage.put('/sent.txt', 'sent')
  await (await sandbox.transfers.start({ from: ['storage_a', '/sent.txt'], to: ['storage_b', '/'] })).done
  await (await sandbox.transfers.start({ from: ['storage_a', '/sent.txt'], to: ['storage_c', '/'], failAt: 0 })).done
  await storage.remove('/sent.txt')
  await sandbox.deliveries.until({ state: 'delivered', count: 5 })
  const events = receiver.received.map(({ body }) => JSON.parse(body.toString()))
  for (const event of events) expect(wire.eventSchema.safeParse(event).error?.issues ?? []).toEqual([])
  expect(new Set(events.map(({ type }) => type))).toEqual(
    new Set(['file.created', 'file.deleted', 'transfer.completed', 'transfer.failed']),
  )
  expect(receiver.received[0]?.headers).toMatchObject({
    'content-type': 'application/json',
    'x-service-signature': expect.stringMatching(/^[0-9a-f]{64}$/),
  })
})

test('4.2: a page has 20 entries by default, 100 at most, newest first', async () => {
  const { sandbox, ask } = await openAccount()
  for (let n = 0; n < 101; n++) {
    await sandbox.clock.advance(1000)
    await sandbox.storage('storage_b').put(`/${n}.txt`, 'x'.repeat(n))
  }
  const first = (await ask('/files?service=storage_b')).body
  expect(first.pagination).toEqual({ page: 1, limit: 20, totalItems: 101, totalPages: 6 })
  expect(first.data[0].name).toBe('100.txt')
  expect((await ask('/files?service=storage_b&limit=100')).body.data).toHaveLength(100)
  expect((await ask('/files?service=storage_b&limit=101')).status).toBe(400)
  for (const [sort, name] of [
    ['createdAt', '0.txt'],
    ['size', '0.txt'],
    ['-size', '100.txt'],
    ['name', '0.txt'],
    ['-name', '99.txt'],
    ['-modifiedAt', '100.txt'],
  ])
    expect((await ask(`/files?service=storage_b&sort=${sort}`)).body.data[0].name).toBe(name)
})

test('5: every scope permits its operations and no others', async () => {
  const { sandbox, on } = await openAccount()
  const statusesOf = async (scope: Parameters<Sandbox['keys']['create']>[0]['scope']) => {
    const { key } = await sandbox.keys.create({ name: 'scoped', scope })
    const statuses = []
    for (const [method, path] of [
      ['GET', '/files?service=storage_a'],
      ['GET', `${on}?service=storage_a`],
      ['GET', `${on}/download?service=storage_a`],
      ['DELETE', '/files/unknown?service=storage_a'],
    ] as const)
      statuses.push((await call(sandbox, path, { key, method })).status)
    return statuses
  }
  expect(await statusesOf('read-only')).toEqual([200, 200, 200, 403])
  expect(await statusesOf('read-write')).toEqual([200, 200, 200, 404])
  expect(await statusesOf('admin')).toEqual([200, 200, 200, 404])
  expect(await statusesOf({ custom: ['files:delete'], storages: ['storage_a'] })).toEqual([403, 403, 403, 404])
  expect(await statusesOf({ custom: [], storages: ['storage_a'] })).toEqual([403, 403, 403, 403])
})

test('5: a key can be replaced by its successor without a gap', async () => {
  const { sandbox } = await openAccount()
  const old = await sandbox.keys.create({ name: 'old', scope: 'read-only' })
  const fresh = await sandbox.keys.create({ name: 'fresh', scope: 'read-only' })
  const status = async (key: string) => (await call(sandbox, '/files?service=storage_a', { key })).status
  expect([await status(old.key), await status(fresh.key)]).toEqual([200, 200])
  await sandbox.keys.revoke(old.id)
  expect([await status(old.key), await status(fresh.key)]).toEqual([401, 200])
  const edited = await sandbox.keys.edit(fresh.id, { name: 'renamed' })
  expect(edited).toMatchObject({ name: 'renamed', scope: 'read-only', key: fresh.key, lastUsedAt: expect.any(String) })
})

test('8: every key has a rate limit of its own', async () => {
  const { sandbox, ask } = await openAccount({ plan: 'free' })
  const statuses = []
  for (let n = 0; n <= 100; n++) statuses.push((await ask('/files?service=storage_a')).status)
  expect(statuses.indexOf(429)).toBe(100)
  const other = await sandbox.keys.create({ name: 'other' })
  expect((await call(sandbox, '/files?service=storage_a', { key: other.key })).status).toBe(200)
})

test('9: the API answers under version 1 only', async () => {
  const { sandbox, key } = await openAccount()
  const { status } = await fetch(`${sandbox.origin}/v2/files?service=storage_a`, {
    headers: { authorization: `Bearer ${key}` },
  })
  expect(status).toBe(404)
})

test('4.3, 7.2: errors for unreadable bodies and unknown endpoints come in the form of the endpoint', async () => {
  const { sandbox, ask } = await openAccount()
  const broken = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"service":' }
  expectBody(await ask('/files/list', broken), 400, wire.alternativeErrorSchema)
  expectBody(await ask('/migrations'), 404, wire.errorSchema)
  sandbox.settings.update({ form: 'alternative' })
  expectBody(await ask('/migrations'), 404, wire.alternativeErrorSchema)
  expectBody(await ask('/files?service=storage_a&path=folder'), 400, wire.alternativeErrorSchema)
})

test('/_sandbox/openapi is the OpenAPI 3.1 document of the Files API itself', async () => {
  const { sandbox } = await openAccount()
  const data = (await control(sandbox, 'GET', '/openapi')).body
  expect(data).toMatchObject({ openapi: '3.1.0', servers: [{ url: sandbox.url }] })
  const operations = Object.entries(data.paths).flatMap(([path, methods]) =>
    Object.keys(methods as object).map((method) => `${method} ${path}`),
  )
  expect(operations).toEqual([
    'get /files',
    'post /files/list',
    'get /files/{fileId}',
    'delete /files/{fileId}',
    'get /files/{fileId}/download',
  ])
  const names = data.paths['/files'].get.parameters.map(({ name, required }: { name: string; required: boolean }) => [
    name,
    required,
  ])
  expect(names).toEqual([
    ['service', true],
    ['path', false],
    ['recursive', false],
    ['page', false],
    ['limit', false],
    ['sort', false],
  ])
})
