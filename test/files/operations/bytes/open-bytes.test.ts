import { expect } from 'vitest'
import { CONTENT, FILE, startDownloads, test } from '../../support/download-bench.ts'
import { cutAt, serveBytes, sha256, watchProgress } from '../../support/download-host.ts'
import { failure, text } from '../../support/scripted-server.ts'
import { errorOf } from '../../support/test-client.ts'

test.each([401, 403, 404, 410])(
  'a download URL that the host refuses with %d is exchanged for a fresh one',
  async (status) => {
    await using bench = await startDownloads()
    bench.host.script(text(status, 'expired'), serveBytes(CONTENT))
    const done = await bench.files.download(FILE, { to: bench.path('x') })
    expect(done.sha256).toBe(sha256(CONTENT))
    expect(bench.host.seen.map((seen) => seen.path)).toEqual(['/bytes/1', '/bytes/2'])
  },
)

test('a download URL that expires twice within a file is exchanged twice', async ({ downloads: bench }) => {
  const { reached, onProgress } = watchProgress()
  bench.host.script(
    cutAt(CONTENT, 100_000, { seen: reached(100_000) }),
    text(403, ''),
    cutAt(CONTENT, 200_000, { seen: reached(200_000) }),
    text(403, ''),
    serveBytes(CONTENT),
  )
  const done = await bench.files.download(FILE, { to: bench.path('x'), onProgress })
  expect(done.sha256).toBe(sha256(CONTENT))
  expect(bench.host.seen.map((seen) => `${seen.path} ${seen.headers.range ?? ''}`)).toEqual([
    '/bytes/1 ',
    '/bytes/1 bytes=100000-',
    '/bytes/2 bytes=100000-',
    '/bytes/2 bytes=200000-',
    '/bytes/3 bytes=200000-',
  ])
})

test('a download URL with less than 30 seconds left is exchanged before use', async () => {
  await using bench = await startDownloads({ urlsLastMs: 900_000 })
  const { reached, onProgress } = watchProgress()
  bench.host.script(cutAt(CONTENT, 100_000, { seen: reached(100_000) }), serveBytes(CONTENT))
  await bench.files.download(FILE, {
    to: bench.path('x'),
    onProgress: (progress) => {
      if (progress.bytes === 100_000) bench.clock.advance('871s')
      onProgress(progress)
    },
  })
  expect(bench.host.seen.map((seen) => seen.path)).toEqual(['/bytes/1', '/bytes/2'])
})

test('a download URL that always expires at once is used all the same', async () => {
  await using bench = await startDownloads({ urlsLastMs: 1_000 })
  bench.host.script(serveBytes(CONTENT))
  expect(await bench.files.download(FILE, { to: bench.path('x') })).toMatchObject({ bytes: CONTENT.length })
})

test.each([
  [403, 'PermissionError'],
  [404, 'ProtocolError'],
])('a download URL that the host refuses with %d, however fresh, is an error of the host', async (status, name) => {
  await using bench = await startDownloads()
  bench.host.otherwise(text(status, 'never'))
  expect(await errorOf(bench.files.download(FILE, { to: bench.path('x') }))).toMatchObject({
    name,
    message: expect.stringMatching(new RegExp(`^The download host answered ${status}[^.]*\\.$`)),
  })
  expect(bench.host.seen).toHaveLength(4)
})

test('a download of a deleted file ends in the service’s own 404', async ({ downloads: bench }) => {
  bench.host.script(text(404, ''))
  let asked = 0
  bench.api.otherwise((response, request) => {
    const downloadUrl = { downloadUrl: `${bench.host.origin}/bytes/1?signature=hush` }
    const reply =
      asked++ === 0
        ? text(200, JSON.stringify({ success: true, data: downloadUrl }))
        : failure(404, 'resource_not_found')
    reply(response, request)
  })
  expect(await errorOf(bench.files.download(FILE, { to: bench.path('x') }))).toMatchObject({
    name: 'NotFoundError',
    code: 'resource_not_found',
  })
})

test('a download host that is not on the list gets no request', async () => {
  await using bench = await startDownloads({ downloadHosts: ['dl.example.com'] })
  expect(await errorOf(bench.files.download(FILE, { to: bench.path('x') }))).toMatchObject({ name: 'ProtocolError' })
  expect(bench.host.seen).toHaveLength(0)
})

test('a download host on the list is used', async () => {
  await using bench = await startDownloads({ downloadHosts: ['127.0.0.1'] })
  bench.host.script(serveBytes(CONTENT))
  expect(await bench.files.download(FILE, { to: bench.path('x') })).toMatchObject({ bytes: CONTENT.length })
})
