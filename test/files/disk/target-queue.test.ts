import { expect, test } from 'vitest'
import { CONTENT, FILE, startDownloads } from '../support/download-bench.ts'
import { serveBytes, sha256 } from '../support/download-host.ts'

test('two downloads to one path run one after the other', async () => {
  await using bench = await startDownloads()
  const gate = Promise.withResolvers<void>()
  bench.host.script((response, request) => void gate.promise.then(() => serveBytes(CONTENT)(response, request)))
  bench.host.otherwise(serveBytes(CONTENT))
  const to = bench.path('x')
  const both = Promise.all([bench.files.download(FILE, { to }), bench.files.download(FILE, { to })])
  await bench.host.received(1)
  gate.resolve()
  expect((await both).map((done) => done.sha256)).toEqual([sha256(CONTENT), sha256(CONTENT)])
  expect(bench.host.seen.map((seen) => seen.path)).toEqual(['/bytes/1', '/bytes/2'])
})
