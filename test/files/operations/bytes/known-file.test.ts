import { readFile, writeFile } from 'node:fs/promises'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { CONTENT, FILE, startDownloads } from '../../support/download-bench.ts'
import { serveBytes, sha256 } from '../../support/download-host.ts'
import { REF } from '../../support/entries.ts'
import type { Reply } from '../../support/scripted-server.ts'
import { errorOf } from '../../support/test-client.ts'

const OTHER = Buffer.from(CONTENT).fill(7)
const CHANGED = { size: FILE.size, modifiedAt: '2026-01-03T00:00:00.000Z' }
const SAME = { size: FILE.size, modifiedAt: FILE.modifiedAt }
const MIXED = sha256(Buffer.concat([CONTENT.subarray(0, 100_000), OTHER.subarray(100_000)]))

/** Sends the first 100,000 bytes and breaks off, with an ETag or without. */
function broken(etag?: string): Reply {
  return (response) => {
    response.writeHead(200, { 'content-length': CONTENT.length, ...(etag && { etag }) })
    response.write(CONTENT.subarray(0, 100_000), () => void turn().then(() => response.destroy()))
  }
}

/** A range of the other version, with an ETag or without; `If-Range` is ignored. */
function otherRange(etag?: string): Reply {
  return (response, request) => {
    const from = Number(/^bytes=(\d+)-$/.exec(String(request.headers.range ?? ''))?.[1] ?? 0)
    const range = `bytes ${from}-${OTHER.length - 1}/${OTHER.length}`
    response
      .writeHead(206, { 'content-range': range, 'content-length': OTHER.length - from, ...(etag && { etag }) })
      .end(OTHER.subarray(from))
  }
}

/** A client and a host, and an API whose looks at the file tell `looks` one after the other. */
async function start(looks: object[]) {
  let number = 0
  const bench = await startDownloads({ details: () => looks[Math.min(number++, looks.length - 1)] ?? {} })
  const lookedAt = () => bench.api.seen.filter(({ path }) => !path.endsWith('/download')).length
  const ranges = () => bench.host.seen.map(({ headers }) => headers.range)
  return Object.assign(bench, { lookedAt, ranges })
}

test('a range without an ETag is joined when size and date are the same before and after it', async () => {
  await using bench = await start([SAME])
  bench.host.script(broken(), serveBytes(CONTENT, { etag: null }))
  expect(await bench.files.hash(FILE)).toMatchObject({ sha256: sha256(CONTENT) })
  expect([bench.ranges(), bench.lookedAt()]).toEqual([[undefined, 'bytes=100000-'], 2])
})

test('a range without an ETag is not asked for when the file has changed before it', async () => {
  await using bench = await start([CHANGED])
  bench.host.script(broken(), serveBytes(OTHER, { etag: null }))
  expect(await bench.files.hash(FILE)).toMatchObject({ sha256: sha256(OTHER) })
  expect(bench.ranges()).toEqual([undefined, undefined])
})

test('a range without an ETag is thrown away when the file has changed after it', async () => {
  await using bench = await start([SAME, CHANGED])
  bench.host.script(broken(), otherRange(), serveBytes(OTHER, { etag: null }))
  expect(await bench.files.download(FILE, { to: bench.path('x') })).toMatchObject({ sha256: sha256(OTHER) })
  expect(bench.ranges()).toEqual([undefined, 'bytes=100000-', undefined])
})

test.each([
  ['the range has none', '"v1"', undefined],
  ['the bytes before it had none', undefined, '"v2"'],
  ['both are weak', 'W/"v1"', 'W/"v1"'],
])('an ETag proves nothing when %s', async (_name, first, second) => {
  await using bench = await start([SAME, CHANGED])
  bench.host.script(broken(first), otherRange(second)).otherwise(serveBytes(OTHER, { etag: null }))
  const { sha256: found } = (await bench.files.hash(FILE)) ?? {}
  expect(found).toBe(sha256(OTHER))
  expect(found).not.toBe(MIXED)
})

test('equal strong ETags prove a range without a look', async () => {
  await using bench = await start([CHANGED])
  bench.host.script(broken('"v1"'), serveBytes(CONTENT))
  expect(await bench.files.hash(FILE)).toMatchObject({ sha256: sha256(CONTENT) })
  expect(bench.lookedAt()).toBe(0)
})

test('a file without a date is read anew from its beginning', async () => {
  await using bench = await start([{ size: FILE.size, modifiedAt: null }])
  bench.host.script(broken(), serveBytes(CONTENT, { etag: null }))
  expect(await bench.files.hash(REF)).toMatchObject({ sha256: sha256(CONTENT) })
  expect(bench.ranges()).toEqual([undefined, undefined])
})

test('a stream fails when a range without an ETag may be of another version', async () => {
  await using bench = await start([CHANGED])
  bench.host.script(broken(), otherRange())
  const read = async () => {
    for await (const _ of bench.files.stream(FILE));
  }
  expect(await errorOf(read())).toMatchObject({ name: 'ProtocolError', message: /changed/ })
})

test('a stream fails at its end when the file has changed after a range without an ETag', async () => {
  await using bench = await start([SAME, CHANGED])
  bench.host.script(broken(), otherRange())
  const read = async () => {
    for await (const _ of bench.files.stream(FILE));
  }
  expect(await errorOf(read())).toMatchObject({ name: 'ProtocolError', message: /changed/ })
})

test('a stream fails when a server without ETags begins anew with another version', async () => {
  await using bench = await start([SAME, CHANGED])
  bench.host.script(broken(), serveBytes(OTHER, { etag: null, ranges: false }))
  const read = async () => {
    for await (const _ of bench.files.stream(FILE));
  }
  expect(await errorOf(read())).toMatchObject({ name: 'ProtocolError', message: /changed/ })
})

test('a part that holds the whole file is not finished when the file has changed since', async () => {
  await using bench = await start([CHANGED])
  const to = bench.path('x')
  await writeFile(`${to}.part`, CONTENT)
  await writeFile(`${to}.part.json`, JSON.stringify({ ...FILE, etag: null }))
  bench.host.otherwise(serveBytes(OTHER, { etag: null }))
  expect(await bench.files.download(FILE, { to })).toMatchObject({ sha256: sha256(OTHER), resumedFrom: 0 })
})

test('a part that was joined without an ETag keeps none, so that the next download looks again', async () => {
  await using bench = await start([SAME, CHANGED])
  const to = bench.path('x')
  const cut: Reply = (response) => {
    const range = `bytes 100000-${OTHER.length - 1}/${OTHER.length}`
    response.writeHead(206, { etag: '"v2"', 'content-range': range, 'content-length': OTHER.length - 100_000 })
    response.write(OTHER.subarray(100_000, 200_000), () => void turn().then(() => response.destroy()))
  }
  await writeFile(`${to}.part`, CONTENT.subarray(0, 100_000))
  await writeFile(`${to}.part.json`, JSON.stringify({ ...FILE, etag: null }))
  bench.host.script(cut)
  await errorOf(bench.files.download(FILE, { to, retry: { attempts: 1 } }))
  expect(JSON.parse(await readFile(`${to}.part.json`, 'utf8'))).toMatchObject({ etag: null })
  bench.host.otherwise(serveBytes(OTHER, { etag: '"v2"' }))
  expect(await bench.files.download(FILE, { to })).toMatchObject({ sha256: sha256(OTHER), resumedFrom: 0 })
})
