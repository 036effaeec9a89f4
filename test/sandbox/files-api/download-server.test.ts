import { randomBytes } from 'node:crypto'
import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../support/temp-folder.ts'
import { call } from '../support/call.ts'
import { openSandbox } from '../support/open-sandbox.ts'

const BYTES = randomBytes(1000)

async function withUrl(options = {}) {
  const sandbox = await openSandbox(options)
  const { key } = await sandbox.keys.create({ name: 'test', scope: 'read-only' })
  const { id } = await sandbox.storage('storage_a').put('/report.pdf', BYTES)
  const { body } = await call(sandbox, `/files/${id}/download?service=storage_a`, { key })
  return { sandbox, id, url: String(body.data.downloadUrl), expiresAt: String(body.data.expiresAt) }
}

test("a download URL is valid for 15 minutes of the sandbox's clock", async () => {
  const { sandbox, url, expiresAt } = await withUrl()
  expect(Date.parse(expiresAt) - sandbox.clock.now()).toBe(15 * 60_000)
  await sandbox.clock.advance('14m 59s')
  expect((await fetch(url)).status).toBe(200)
  await sandbox.clock.advance('1s')
  expect((await fetch(url)).status).toBe(403)
})

test('a download URL is refused if any part of it was changed', async () => {
  const { sandbox, url } = await withUrl()
  const other = await sandbox.storage('storage_a').put('/other.pdf', 'other')
  const changed = [
    url.replace(/expires=(\d+)/, (_, moment) => `expires=${Number(moment) + 1}`),
    url.replace(/\/download\/storage_a\/[^?]+/, `/download/storage_a/${other.id}`),
    url.replace('storage_a', 'storage_b'),
    url.replace(/signature=.*/, ''),
    url.slice(0, -1),
  ]
  for (const each of changed) expect((await fetch(each)).status).toBe(403)
})

test('a download continues with Range while the file is the same, and starts over otherwise', async () => {
  const { sandbox, url } = await withUrl()
  const whole = await fetch(url)
  const etag = whole.headers.get('etag') ?? ''
  expect(etag).toMatch(/^"[0-9a-f]+"$/)
  const range = () => fetch(url, { headers: { range: 'bytes=600-', 'if-range': etag } })
  const part = await range()
  expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 600-999/1000'])
  expect(Buffer.from(await part.arrayBuffer())).toEqual(BYTES.subarray(600))
  await sandbox.storage('storage_a').put('/report.pdf', randomBytes(1000))
  expect((await range()).status).toBe(200)
  expect((await fetch(url, { headers: { range: 'bytes=5000-' } })).status).toBe(416)
})

test('a download URL survives a restart, and gets 404 when the file is gone', async () => {
  const dir = tempFolder()
  const { sandbox, url } = await withUrl({ dir })
  await sandbox.stop()
  const again = await openSandbox({ dir })
  const moved = url.replace(sandbox.downloadOrigin, again.downloadOrigin)
  expect((await fetch(moved)).status).toBe(200)
  await again.storage('storage_a').remove('/report.pdf')
  expect((await fetch(moved)).status).toBe(404)
})

test('a folder has no download URL', async () => {
  const { sandbox } = await withUrl()
  const { key } = await sandbox.keys.create({ name: 'test' })
  await sandbox.storage('storage_a').put('/folder/a.txt', 'a')
  const folder = sandbox
    .storage('storage_a')
    .list()
    .find(({ type }) => type === 'folder')
  expect((await call(sandbox, `/files/${folder?.id}/download?service=storage_a`, { key })).status).toBe(400)
})

const PAST = new Date(0).toUTCString()
const ETAG = 'the ETag of the file'

test.each<[string, Record<string, string>, number, string | null]>([
  ['for the end', { range: 'bytes=-10' }, 206, 'bytes 990-999/1000'],
  ['for the first byte', { range: 'bytes=0-0' }, 206, 'bytes 0-0/1000'],
  ['for more than there is', { range: 'bytes=990-2000' }, 206, 'bytes 990-999/1000'],
  ['for two ranges that meet', { range: 'bytes=0-9,10-19' }, 206, 'bytes 0-19/1000'],
  ['for two ranges apart, which are not sent in parts', { range: 'bytes=0-9,20-29' }, 200, null],
  ['for other units', { range: 'lines=1-2' }, 200, null],
  ['for what is not there', { range: 'bytes=1000-' }, 416, 'bytes */1000'],
  ['for a range of the file of that date', { range: 'bytes=0-9', 'if-range': PAST }, 200, null],
  ['for what the client does not have yet', { 'if-none-match': '"other"' }, 200, null],
  ['for what the client has', { 'if-none-match': ETAG, 'cache-control': 'max-age=60' }, 304, null],
  ['for what the client has, but does not trust', { 'if-none-match': ETAG, 'cache-control': 'no-cache' }, 200, null],
  ['for the very file', { 'if-match': `"other", ${ETAG}` }, 200, null],
  ['for any file', { 'if-match': '*' }, 200, null],
  ['for another file', { 'if-match': '"other"' }, 412, null],
  ['for an older file', { 'if-unmodified-since': PAST }, 412, null],
])('a download request %s gets the right status and range', async (_name, headers, status, contentRange) => {
  const { url } = await withUrl()
  const etag = (await fetch(url, { method: 'HEAD' })).headers.get('etag') ?? ''
  const sent = Object.entries(headers).map(([name, value]) => [name, value.replace(ETAG, etag)])
  const response = await fetch(url, { headers: Object.fromEntries(sent) })
  expect([response.status, response.headers.get('content-range')]).toEqual([status, contentRange])
  const bytes = Buffer.from(await response.arrayBuffer())
  const [, from, to] = /^bytes (\d+)-(\d+)/.exec(contentRange ?? '') ?? [null, 0, 999]
  if (status < 300) expect(bytes).toEqual(BYTES.subarray(Number(from), Number(to) + 1))
})

test('a download of a file that shrinks is cut off, so that its reader notices', async () => {
  const { sandbox } = await withUrl()
  const { key } = await sandbox.keys.create({ name: 'test', scope: 'read-only' })
  const storage = sandbox.storage('storage_a')
  // More than the system buffers while nobody reads.
  const { id } = await storage.put('/large.bin', Buffer.alloc(32 * 1024 * 1024))
  const { body } = await call(sandbox, `/files/${id}/download?service=storage_a`, { key })
  const response = await fetch(body.data.downloadUrl)
  truncateSync(join(storage.dir, 'large.bin'), 1)
  await expect(response.arrayBuffer()).rejects.toThrow()
})
