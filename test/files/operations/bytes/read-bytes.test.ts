import { existsSync } from 'node:fs'
import { expect } from 'vitest'
import { CONTENT, FILE, startDownloads, test } from '../../support/download-bench.ts'
import { cutAt, serveBytes, sha256, watchProgress } from '../../support/download-host.ts'
import { text } from '../../support/scripted-server.ts'
import { errorOf } from '../../support/test-client.ts'

test('a broken download starts again at 0 when the server ignores the range', async ({ downloads: bench }) => {
  const { reached, onProgress } = watchProgress()
  bench.host.script(cutAt(CONTENT, 100_000, { seen: reached(100_000) }), serveBytes(CONTENT, { ranges: false }))
  const done = await bench.files.download(FILE, { to: bench.path('x'), onProgress })
  expect(done.sha256).toBe(sha256(CONTENT))
})

test('a body without a length that ends too soon is continued', async ({ downloads: bench }) => {
  bench.host.script((response) => {
    response.useChunkedEncodingByDefault = false
    response.writeHead(200, { etag: '"v1"', connection: 'close' }).end(CONTENT.subarray(0, 100_000))
  }, serveBytes(CONTENT))
  expect(await bench.files.download(FILE, { to: bench.path('x') })).toMatchObject({ sha256: sha256(CONTENT) })
  expect(bench.host.seen[1]?.headers.range).toBe('bytes=100000-')
})

test('a host that breaks off before any new byte is not tried for ever', async ({ downloads: bench }) => {
  const { reached, onProgress } = watchProgress()
  bench.host.script(cutAt(CONTENT, 100_000, { seen: reached(100_000) }))
  bench.host.otherwise((response) => {
    response.writeHead(200, { etag: '"v1"', 'content-length': CONTENT.length }).write(CONTENT.subarray(0, 50_000))
    void reached(50_000).then(() => response.destroy())
  })
  expect(await errorOf(bench.files.download(FILE, { to: bench.path('x'), onProgress }))).toMatchObject({
    name: 'ConnectionError',
  })
  expect(bench.host.seen.length).toBeLessThanOrEqual(6)
})

test('a host that never gives a byte is asked as often as a request is tried', async () => {
  await using bench = await startDownloads({ retry: { attempts: 3 } })
  bench.host.otherwise(text(503, ''))
  expect(await errorOf(bench.files.download(FILE, { to: bench.path('x') }))).toMatchObject({ name: 'ServerError' })
  expect(bench.host.seen).toHaveLength(3)
})

test('a download host may ask for a wait, which does not block the key', async ({ downloads: bench }) => {
  bench.host.script(text(429, '', { 'retry-after': '5' }), text(503, ''), serveBytes(CONTENT))
  expect(await bench.files.download(FILE, { to: bench.path('x') })).toMatchObject({ bytes: CONTENT.length })
  expect(bench.pauses).toEqual([5_000])
})

test.each([
  ['too small', 299_000],
  ['too large', 301_000],
])('a file whose announced size is %s is not written', async (_name, size) => {
  await using bench = await startDownloads()
  bench.host.otherwise(serveBytes(CONTENT))
  const to = bench.path('x')
  expect(await errorOf(bench.files.download({ ...FILE, size }, { to }))).toMatchObject({
    name: 'ProtocolError',
    retryable: false,
  })
  expect([to, `${to}.part`, `${to}.part.json`].map(existsSync)).toEqual([false, false, false])
})

test('a file with more bytes than announced is not written', async ({ downloads: bench }) => {
  bench.host.otherwise((response) => response.writeHead(200).end(CONTENT))
  const to = bench.path('x')
  expect(await errorOf(bench.files.download({ ...FILE, size: 1_000 }, { to }))).toMatchObject({ name: 'ProtocolError' })
  expect(existsSync(to)).toBe(false)
})
