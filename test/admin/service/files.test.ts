import { expect, test } from 'vitest'
import { planToken } from '../../../src/core/access/token.ts'
import { readAdminToken } from '../../support/admin-client.ts'
import { pathsIn } from '../../support/paths-in.ts'
import { startTestApp } from '../../support/test-app.ts'

interface Answer {
  status: number
  items: { name: string }[]
  next: string | null
  total: number
  ticket: string
}

/** The app with files in storage_a, and a caller of its admin API. */
async function openApi() {
  const started = await startTestApp()
  const { app, urls, dataDir, sandbox } = started
  const own = readAdminToken(dataDir)
  const api = `${urls.admin}/api/v1`
  const put = (path: string, text: string) => sandbox.storage('storage_a').put(path, text)
  const ask = async (route: string, body?: object, token = own) => {
    const [method = '', path = ''] = route.split(' ')
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(api + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return { ...((await response.json()) as object), status: response.status } as Answer
  }
  const makeToken = async (role: 'viewer' | 'operator') => {
    const { token, secret } = planToken({ name: role, role, expiresAt: null }, Date.now())
    await app.store.saveToken(token)
    return secret
  }
  return { ...started, api, put, ask, makeToken }
}

interface Seen {
  id: string
  path: string
  size: number | null
  modifiedAt: string | null
}

const seen = ({ id, path, size, modifiedAt }: Seen) => ({ service: 'storage_a', id, path, size, modifiedAt })

test('a folder is listed page by page, by name, and a missing storage or account is named', async () => {
  const { put, ask } = await openApi()
  for (const name of ['c.txt', 'a.txt', 'b.txt']) await put(`/in/${name}`, name)
  const names = (page: Answer) => page.items.map(({ name }) => name)
  const first = await ask('GET /files/storage_a?path=/in&limit=2')
  expect(names(first)).toEqual(['a.txt', 'b.txt'])
  const second = await ask(`GET /files/storage_a?path=/in&limit=2&after=${first.next}`)
  expect(names(second)).toEqual(['c.txt'])
  expect([first.total, second.next]).toEqual([3, null])
  expect(await ask('GET /files/storage_d')).toMatchObject({ status: 404, fix: expect.stringContaining('storage_a') })
  expect(await ask('GET /files/storage_a?account=shop')).toMatchObject({
    status: 404,
    detail: expect.stringContaining('shop'),
  })
  expect(await ask('GET /files/storage_a/fil_none')).toMatchObject({ status: 404, code: 'not_found' })
})

test('a ticket downloads a file once, and no download address or key is in any answer, notice or row', async () => {
  const { put, ask, api, sandbox, app, heard } = await openApi()
  const { id } = await put('/in/a "b".txt', 'the content')
  const answers = [await ask(`GET /files/storage_a/${id}`), await ask('GET /files/storage_a?path=/in')]
  const asked = await ask(`POST /files/storage_a/${id}/ticket`, { reason: 'a look' })
  const url = `${api}/downloads/${asked.ticket}`
  const download = await fetch(url)
  expect(await download.text()).toBe('the content')
  expect(Object.fromEntries(download.headers)).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-length': '11',
    'content-disposition': 'attachment; filename="a \\"b\\".txt"',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  const again = await fetch(url)
  expect([again.status, await again.json()]).toMatchObject([404, { code: 'not_found' }])
  const actions = await app.store.listActions({ limit: 10 })
  expect(actions).toMatchObject([{ action: 'file.download', target: `storage_a:${id}`, reason: 'a look' }])
  const [key] = sandbox.keys.list()
  const told = JSON.stringify([answers, heard, actions])
  expect(told).not.toContain(asked.ticket)
  expect(told).not.toContain(key?.key)
  expect(told).not.toContain(sandbox.downloadOrigin)
})

test('a fault before the first byte is a problem', async () => {
  const { put, ask, api, sandbox } = await openApi()
  const { id } = await put('/a.txt', 'content')
  sandbox.faults.add({ on: 'download', status: 404 })
  const { ticket } = await ask(`POST /files/storage_a/${id}/ticket`, {})
  const response = await fetch(`${api}/downloads/${ticket}`)
  expect(response.status).toBeGreaterThanOrEqual(400)
  expect(await response.json()).toMatchObject({ type: expect.stringContaining('urn:upshot:') })
})

test('a file is deleted only as it was seen, with rows in the ledger and in the audit log', async () => {
  const { put, ask, sandbox, app } = await openApi()
  const { id } = await put('/a.txt', 'four')
  const file = (await ask(`GET /files/storage_a/${id}`)) as never as Seen
  const remove = (file: object) => ask('POST /files/delete', { files: [file], reason: 'old' })
  expect(await remove({ ...seen(file), size: 3 })).toMatchObject({ status: 200, files: [{ outcome: 'changed' }] })
  expect(pathsIn(sandbox)).toContain('/a.txt')
  // A number is binding, also where none was needed.
  const wrong = await ask('POST /files/delete', { files: [seen(file)], count: 2 })
  expect(wrong).toMatchObject({ code: 'needs_confirmation', detail: expect.stringContaining('the number given is 2') })
  expect(await remove(seen(file))).toMatchObject({ counts: { deleted: 1 }, files: [{ error: null }] })
  expect(pathsIn(sandbox)).not.toContain('/a.txt')
  const rows = await app.store.listEffects({ target: `storage_a:${id}`, limit: 10 })
  expect(rows.map(({ phase, outcome, actor }) => [phase, outcome, actor])).toEqual([
    ['ended', 'deleted', 'token:admin.token'],
    ['begun', null, 'token:admin.token'],
    ['ended', 'changed', 'token:admin.token'],
    ['begun', null, 'token:admin.token'],
  ])
  expect(await app.store.listActions({ action: 'files.rm', limit: 10 })).toMatchObject([
    { target: `storage_a:${id}`, reason: 'old', outcome: 'begun' },
    { target: `storage_a:${id}`, reason: 'old', outcome: 'begun' },
  ])
})

test('a viewer sees no file, and only an admin deletes outside of the sandbox', async () => {
  const { ask, makeToken, app } = await openApi()
  const viewer = await makeToken('viewer')
  expect(await ask('GET /files/storage_a', undefined, viewer)).toMatchObject({ status: 403 })
  const account = {
    name: 'shop',
    baseUrl: 'https://api.example.com/v1',
    apiKey: 'sk_live_of_a_test',
    fallbackKey: null,
  }
  const storages = { storage_a: 'a', storage_b: 'b', storage_c: 'c' }
  await app.store.saveAccount({ ...account, plan: 'free', storages, createdAt: Date.now() })
  const body = { account: 'shop', files: [seen({ id: 'fil_1', path: '/a.txt', size: 4, modifiedAt: null })] }
  const refused = await ask('POST /files/delete', body, await makeToken('operator'))
  expect(refused).toMatchObject({ status: 403, detail: expect.stringContaining('admin') })
})
