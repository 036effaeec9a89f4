import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { call, openSandbox, tempDir } from './harness.ts'

const BYTES = randomBytes(1000)

async function withUrl(options = {}) {
  const sandbox = await openSandbox(options)
  const { key } = await sandbox.keys.create({ name: 'test', scope: 'read-only' })
  const { id } = await sandbox.storage('storage_a').put('/report.pdf', BYTES)
  const { body } = await call(sandbox, `/files/${id}/download?service=storage_a`, { key })
  return { sandbox, id, url: String(body.data.downloadUrl), expiresAt: String(body.data.expiresAt) }
}

test('leads to the bytes on another origin, without a key', async () => {
  const { sandbox, url } = await withUrl()
  expect(new URL(url).origin).toBe(sandbox.downloadOrigin)
  expect(sandbox.downloadOrigin).not.toBe(sandbox.origin)
  const response = await fetch(url)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-length')).toBe('1000')
  expect(response.headers.get('content-type')).toBe('application/pdf')
  expect(Buffer.from(await response.arrayBuffer())).toEqual(BYTES)
})

test('is valid for 15 minutes of the sandbox clock', async () => {
  const { sandbox, url, expiresAt } = await withUrl()
  expect(Date.parse(expiresAt) - sandbox.clock.now()).toBe(15 * 60_000)
  await sandbox.clock.advance('14m 59s')
  expect((await fetch(url)).status).toBe(200)
  await sandbox.clock.advance('1s')
  expect((await fetch(url)).status).toBe(403)
})

test('is refused when any part of it was changed', async () => {
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

test('continues with Range while the file is the same, and starts over when it is not', async () => {
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

test('answers 404 when the file has gone, and survives a restart', async () => {
  const dir = tempDir()
  const { sandbox, url } = await withUrl({ dir })
  await sandbox.stop()
  const again = await openSandbox({ dir })
  const moved = url.replace(sandbox.downloadOrigin, again.downloadOrigin)
  expect((await fetch(moved)).status).toBe(200)
  await again.storage('storage_a').remove('/report.pdf')
  expect((await fetch(moved)).status).toBe(404)
})

test('is not given for a folder', async () => {
  const { sandbox } = await withUrl()
  const { key } = await sandbox.keys.create({ name: 'test' })
  await sandbox.storage('storage_a').put('/folder/a.txt', 'a')
  const folder = sandbox
    .storage('storage_a')
    .list()
    .find(({ type }) => type === 'folder')
  expect((await call(sandbox, `/files/${folder?.id}/download?service=storage_a`, { key })).status).toBe(400)
})
