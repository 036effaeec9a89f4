import { existsSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { Downloadable } from '../../../../src/files/index.ts'
import { CONTENT, FILE, startDownloads } from '../../support/download-bench.ts'
import { sha256 } from '../../support/download-host.ts'
import { REF } from '../../support/entries.ts'
import { type Reply, text } from '../../support/scripted-server.ts'
import { errorOf } from '../../support/test-client.ts'

const PAGE = '<html><h1>Service unavailable</h1></html>'
const page = text(200, PAGE, { 'content-type': 'text/html; charset=utf-8', 'content-length': `${PAGE.length}` })
const encoded: Reply = (response) =>
  response.writeHead(200, { 'content-encoding': 'gzip', etag: '"v1"' }).end(gzipSync(CONTENT))

/** Reads a file in each of the three ways, and tells how each of them ended. */
async function readInEachWay(reply: Reply, file: Downloadable, details: () => object = () => ({})) {
  await using bench = await startDownloads({ retry: { attempts: 2 }, details })
  bench.host.otherwise(reply)
  const to = bench.path('x')
  const drain = async () => {
    for await (const _ of bench.files.stream(file));
    return 'read'
  }
  const ends = await Promise.all([
    bench.files.hash(file).catch((error: unknown) => error),
    bench.files.download(file, { to }).catch((error: unknown) => error),
    drain().catch((error: unknown) => error),
  ])
  return { ends, left: [to, `${to}.part`].filter((path) => existsSync(path)) }
}

test('hash(), download() and stream() refuse bytes in a content coding', async () => {
  const { ends, left } = await readInEachWay(encoded, FILE)
  const refusal = { name: 'ProtocolError', contentEncoding: 'gzip', message: /"gzip"/, retryable: false }
  expect(ends).toMatchObject([refusal, refusal, refusal])
  expect(left).toEqual([])
})

test.each<[string, Downloadable, object]>([
  ['of another type', { ...FILE, mimeType: 'application/pdf' }, {}],
  ['of another type, even of the same length', { ...REF, size: PAGE.length, mimeType: 'text/plain' }, {}],
  ['of another type that only a look tells', REF, { size: 300_000, mimeType: 'application/pdf' }],
  ['whose type and size are not known', REF, { size: null, mimeType: null }],
])('hash(), download() and stream() refuse an HTML page in place of a file %s', async (_name, file, details) => {
  const { ends } = await readInEachWay(page, file, () => details)
  const refusal = { name: 'ProtocolError', contentType: 'text/html; charset=utf-8', retryable: true }
  expect(ends).toMatchObject([refusal, refusal, refusal])
})

test('hash(), download() and stream() refuse an error in JSON in place of a file of unknown size', async () => {
  const reply = text(200, '{"success":false}', { 'content-type': 'application/problem+json' })
  const { ends } = await readInEachWay(reply, REF, () => ({ size: null }))
  expect(ends).toMatchObject([{ name: 'ProtocolError' }, { name: 'ProtocolError' }, { name: 'ProtocolError' }])
})

test.each<[string, Downloadable]>([
  ['by its type', { ...REF, size: PAGE.length, mimeType: 'text/html' }],
  ['by its name', { ...REF, size: PAGE.length, mimeType: 'text/plain', name: 'page.htm' }],
  ['perhaps, and has the right length', { ...REF, size: PAGE.length, mimeType: 'application/octet-stream' }],
])('a file that is HTML %s is read', async (_name, file) => {
  const { ends } = await readInEachWay(page, file)
  const sha = sha256(Buffer.from(PAGE))
  expect(ends).toMatchObject([{ sha256: sha }, { sha256: sha }, 'read'])
})

test.each([
  ['shorter', CONTENT.length - 1],
  ['longer', CONTENT.length + 1],
])('hash(), download() and stream() refuse a file that is %s than its entry said', async (_name, size) => {
  const reply: Reply = (response) => response.writeHead(200, { 'content-length': CONTENT.length }).end(CONTENT)
  const { ends } = await readInEachWay(reply, { ...FILE, size })
  const refusal = { name: 'ProtocolError', message: /300000|300001|299999/ }
  expect(ends).toMatchObject([refusal, refusal, refusal])
})

test('a file whose length nobody says is refused, for a broken connection would look like its end', async () => {
  const reply: Reply = (response) => {
    response.useChunkedEncodingByDefault = false
    response.writeHead(200, { connection: 'close' }).end(CONTENT.subarray(0, 1_000))
  }
  const { ends } = await readInEachWay(reply, REF, () => ({ size: null }))
  expect(ends).toMatchObject([{ message: /how long/ }, { message: /how long/ }, { message: /how long/ }])
})

test('a part of a file in place of the whole is refused where nobody says its length', async () => {
  await using bench = await startDownloads({ details: () => ({ size: null }) })
  bench.host.otherwise((response) =>
    response
      .writeHead(206, { 'content-range': 'bytes 0-999/*', 'content-length': 1_000 })
      .end(CONTENT.subarray(0, 1_000)),
  )
  expect(await errorOf(bench.files.hash(REF))).toMatchObject({ name: 'ProtocolError' })
})
