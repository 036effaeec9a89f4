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
