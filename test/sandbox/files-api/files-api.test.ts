import { request } from 'node:http'
import { expect, test } from 'vitest'
import { call } from '../support/call.ts'
import { openSandbox } from '../support/open-sandbox.ts'

async function withFiles() {
  const sandbox = await openSandbox()
  const { key } = await sandbox.keys.create({ name: 'test', scope: 'read-write' })
  for (const path of ['/in/a.txt', '/in/deep/b.pdf', '/c.csv']) {
    await sandbox.clock.advance('1s')
    await sandbox.storage('storage_a').put(path, `content of ${path}`)
  }
  return { sandbox, key }
}

test('a list holds the entries of a folder, newest first', async () => {
  const { sandbox, key } = await withFiles()
  const { status, body } = await call(sandbox, '/files?service=storage_a', { key })
  expect(status).toBe(200)
  expect(body.success).toBe(true)
  expect(body.data.map((entry: { name: string }) => entry.name)).toEqual(['c.csv', 'in'])
  expect(body.pagination).toEqual({ page: 1, limit: 20, totalItems: 2, totalPages: 1 })
  expect(body.data[0]).toMatchObject({ type: 'file', mimeType: 'text/csv', size: 17, path: '/c.csv' })
  expect(body.data[1]).not.toHaveProperty('size')
})

test('a recursive list holds everything beneath a folder', async () => {
  const { sandbox, key } = await withFiles()
  const { body } = await call(sandbox, '/files?service=storage_a&path=/in&recursive=true&sort=name', { key })
  expect(body.data.map((entry: { path: string }) => entry.path)).toEqual(['/in/a.txt', '/in/deep/b.pdf', '/in/deep'])
})

test('paging through a list neither loses nor repeats an entry', async () => {
  const sandbox = await openSandbox()
  const { key } = await sandbox.keys.create({ name: 'test', scope: 'read-only' })
  for (let n = 0; n < 45; n++) await sandbox.storage('storage_b').put(`/${n}.txt`, 'x')
  const ids = new Set<string>()
  for (const page of [1, 2, 3, 4]) {
    const { body } = await call(sandbox, `/files?service=storage_b&page=${page}&sort=createdAt`, { key })
    expect(body.data).toHaveLength([20, 20, 5, 0][page - 1] ?? -1)
    for (const { id } of body.data) ids.add(id)
  }
  expect(ids.size).toBe(45)
})

test('details have fields that a list does not have', async () => {
  const { sandbox, key } = await withFiles()
  const [entry] = sandbox.storage('storage_a').list()
  const { body } = await call(sandbox, `/files/${entry?.id}?service=storage_a`, { key })
  expect(body.data).toMatchObject({ id: entry?.id, owner: expect.stringContaining('@'), shared: false })
})

test('a file is deleted for good, and the second delete gets 404', async () => {
  const { sandbox, key } = await withFiles()
  const entry = sandbox
    .storage('storage_a')
    .list()
    .find(({ name }) => name === 'c.csv')
  const first = await call(sandbox, `/files/${entry?.id}?service=storage_a`, { key, method: 'DELETE' })
  expect(first.status).toBe(200)
  expect(first.body.data.message).toContain('c.csv')
  await expect(sandbox.storage('storage_a').read('/c.csv')).rejects.toThrow()
  const second = await call(sandbox, `/files/${entry?.id}?service=storage_a`, { key, method: 'DELETE' })
  expect(second.status).toBe(404)
  expect(second.body.error.code).toBe('resource_not_found')
  await sandbox.storage('storage_a').put('/c.csv', 'again')
  expect(
    sandbox
      .storage('storage_a')
      .list()
      .find(({ name }) => name === 'c.csv')?.id,
  ).not.toBe(entry?.id)
})

test('an invalid request is refused with the name of its parameter', async () => {
  const { sandbox, key } = await withFiles()
  const refused = async (query: string) => {
    const { status, body } = await call(sandbox, `/files${query}`, { key })
    return [status, body.error.code, body.error.details.parameter]
  }
  expect(await refused('')).toEqual([400, 'invalid_request', 'service'])
  expect(await refused('?service=storage_z')).toEqual([400, 'invalid_request', 'service'])
  expect(await refused('?service=storage_a&limit=101')).toEqual([400, 'invalid_request', 'limit'])
  expect(await refused('?service=storage_a&page=0')).toEqual([400, 'invalid_request', 'page'])
  expect(await refused('?service=storage_a&sort=colour')).toEqual([400, 'invalid_request', 'sort'])
  expect((await refused('?service=storage_a&path=/nowhere'))[0]).toBe(404)
  expect((await refused('?service=storage_a&path=/../..'))[0]).toBe(400)
})

test('a missing, unknown, expired or revoked key gets 401', async () => {
  const { sandbox, key } = await withFiles()
  const statusWith = async (credential?: string) => {
    const { status, body } = await call(sandbox, '/files?service=storage_a', credential ? { key: credential } : {})
    return status === 401 ? body.error.code : status
  }
  expect(await statusWith()).toBe('authentication_error')
  expect(await statusWith('sk_sandbox_unknown')).toBe('authentication_error')
  const expiring = await sandbox.keys.create({
    name: 'short',
    expiresAt: new Date(sandbox.clock.now() + 1000).toISOString(),
  })
  expect(await statusWith(expiring.key)).toBe(200)
  await sandbox.clock.advance('1s')
  expect(await statusWith(expiring.key)).toBe('authentication_error')
  const [first] = sandbox.keys.list()
  expect(await statusWith(key)).toBe(200)
  await sandbox.keys.revoke(first?.id ?? '')
  expect(await statusWith(key)).toBe('authentication_error')
})

test('a call outside of the scope gets 403', async () => {
  const { sandbox } = await withFiles()
  const [entry] = sandbox.storage('storage_a').list()
  const reader = await sandbox.keys.create({ name: 'reader', scope: 'read-only' })
  const one = await sandbox.keys.create({ name: 'one', scope: { custom: ['files:read'], storages: ['storage_b'] } })
  const statusOf = async (path: string, key: string, method = 'GET') =>
    (await call(sandbox, path, { key, method })).status
  expect(await statusOf(`/files/${entry?.id}?service=storage_a`, reader.key, 'DELETE')).toBe(403)
  expect(await statusOf(`/files/${entry?.id}`, reader.key, 'DELETE')).toBe(403)
  expect(await statusOf('/files?service=storage_a', one.key)).toBe(403)
  expect(await statusOf('/files?service=storage_b', one.key)).toBe(200)
})

test("a call after the plan's burst gets 429 with the time to wait", async () => {
  const sandbox = await openSandbox({ plan: 'free' })
  const { key } = await sandbox.keys.create({ name: 'busy' })
  const statuses: number[] = []
  for (let n = 0; n < 100; n++) statuses.push((await call(sandbox, '/files?service=storage_a', { key })).status)
  expect(new Set(statuses)).toEqual(new Set([200]))
  const { status, headers, body } = await call(sandbox, '/files?service=storage_a', { key })
  expect([status, body.error.code]).toEqual([429, 'rate_limit_exceeded'])
  expect(headers.get('x-ratelimit-limit')).toBe('60')
  expect(headers.get('x-ratelimit-remaining')).toBe('0')
  expect(headers.get('retry-after')).toBe('1')
  expect(Number(headers.get('x-ratelimit-reset'))).toBe(Math.ceil((sandbox.clock.now() + 1000) / 1000))
  await sandbox.clock.advance(Number(headers.get('retry-after')) * 1000)
  expect((await call(sandbox, '/files?service=storage_a', { key })).status).toBe(200)
})

test('the alternative list takes a JSON body and pages by token', async () => {
  const { sandbox, key } = await withFiles()
  const ask = (body: object) =>
    call(sandbox, '/files/list', {
      key,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ service: 'storage_a', path: '/', recursive: true, limit: 3, ...body }),
    })
  const first = await ask({})
  expect(first.body.status).toBe('success')
  expect(first.body.data.files).toHaveLength(3)
  expect(first.body.data.files[0]).toMatchObject({ mime_type: 'text/csv', created_at: expect.any(String) })
  const second = await ask({ page_token: first.body.data.next_page_token })
  expect(second.body.data.files).toHaveLength(2)
  expect(second.body.data.next_page_token).toBeNull()
  const refused = await ask({ path: 'in' })
  expect(refused.status).toBe(400)
  expect(refused.body).toMatchObject({
    status: 'error',
    error: { code: 'invalid_parameter', details: 'parameter: path' },
  })
})

test('the alternative list takes a GET with a body, and each name of the page token', async () => {
  const { sandbox, key } = await withFiles()
  const ask = (body: object) =>
    new Promise<{ data: { files: { id: string }[]; next_page_token: string | null } }>((resolve, reject) => {
      const text = JSON.stringify({ service: 'storage_a', path: '/', recursive: true, limit: 4, ...body })
      const headers = {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      }
      const outgoing = request(`${sandbox.url}/files/list`, { method: 'GET', headers }, async (response) => {
        const chunks: Buffer[] = []
        for await (const chunk of response) chunks.push(chunk)
        resolve(JSON.parse(Buffer.concat(chunks).toString()))
      })
      outgoing.on('error', reject)
      outgoing.end(text)
    })
  const first = await ask({})
  expect(first.data.files).toHaveLength(4)
  for (const name of ['page_token', 'next_page_token', 'pageToken']) {
    const second = await ask({ [name]: first.data.next_page_token })
    expect(second.data.files).toHaveLength(1)
    expect(first.data.files.map(({ id }) => id)).not.toContain(second.data.files[0]?.id)
  }
  const refused = await ask({ page_token: 'made up' })
  expect(refused).toMatchObject({ status: 'error', error: { code: 'invalid_parameter' } })
})

test('pages shift when files arrive in between, as page numbers do', async () => {
  const { sandbox, key } = await withFiles()
  const names = async (page: number) => {
    const { body } = await call(sandbox, `/files?service=storage_a&recursive=true&limit=2&page=${page}`, { key })
    return body.data.map(({ name }: { name: string }) => name)
  }
  const [, last] = await names(1)
  await sandbox.clock.advance('1s')
  await sandbox.storage('storage_a').put('/newest.txt', 'x')
  expect((await names(2))[0]).toBe(last)
})
