import { readFile, writeFile } from 'node:fs/promises'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { CONTENT, FILE, startDownloads } from '../../support/download-bench.ts'
import { serveBytes, sha256, versionBy } from '../../support/download-host.ts'
import { REF } from '../../support/entries.ts'
import { type Reply, ScriptedServer } from '../../support/scripted-server.ts'
import { errorOf, testClient } from '../../support/test-client.ts'

const OTHER = Buffer.from(CONTENT).fill(7)
const CHANGED = { size: FILE.size, modifiedAt: '2026-01-03T00:00:00.000Z' }
const SAME = { size: FILE.size, modifiedAt: FILE.modifiedAt }
const MIXED = sha256(Buffer.concat([CONTENT.subarray(0, 100_000), OTHER.subarray(100_000)]))

type Marks = Record<string, string>

/** Sends the first 100,000 bytes and breaks off. */
function broken(headers: Marks = {}): Reply {
  return (response) => {
    response.writeHead(200, { 'content-length': CONTENT.length, ...headers })
    response.write(CONTENT.subarray(0, 100_000), () => void turn().then(() => response.destroy()))
  }
}

/** A range of the other version; `If-Range` is ignored. */
function otherRange(headers: Marks = {}): Reply {
  return (response, request) => {
    const from = Number(/^bytes=(\d+)-$/.exec(String(request.headers.range ?? ''))?.[1] ?? 0)
    const range = `bytes ${from}-${OTHER.length - 1}/${OTHER.length}`
    response
      .writeHead(206, { 'content-range': range, 'content-length': OTHER.length - from, ...headers })
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

test('equal weak ETags prove nothing', async () => {
  await using bench = await start([SAME, CHANGED])
  const weak = { etag: 'W/"v1"' }
  bench.host.script(broken(weak), otherRange(weak)).otherwise(serveBytes(OTHER, { etag: null }))
  const { sha256: found } = (await bench.files.hash(FILE)) ?? {}
  expect(found).toBe(sha256(OTHER))
  expect(found).not.toBe(MIXED)
})

const MONDAY = 'Mon, 05 Jan 2026 10:00:00 GMT'
const TUESDAY = 'Tue, 06 Jan 2026 10:00:00 GMT'

/** Headers of the bytes, and of their continuation. The API tells no change. */
const OTHER_VERSIONS: [name: string, first: Marks, second: Marks][] = [
  ['another date', { 'last-modified': MONDAY }, { 'last-modified': TUESDAY }],
  ['no date any more', { 'last-modified': MONDAY }, {}],
  [
    'a date beside an equal weak ETag that is another',
    { etag: 'W/"a"', 'last-modified': MONDAY },
    { etag: 'W/"a"', 'last-modified': TUESDAY },
  ],
  [
    'a date beside an equal strong ETag that is another',
    { etag: '"a"', 'last-modified': MONDAY },
    { etag: '"a"', 'last-modified': TUESDAY },
  ],
  ['another weak ETag', { etag: 'W/"a"' }, { etag: 'W/"b"' }],
  ['no weak ETag any more', { etag: 'W/"a"' }, {}],
  ['another strong ETag', { etag: '"a"' }, { etag: '"b"' }],
  ['no strong ETag any more', { etag: '"a"' }, {}],
  ['a weak ETag in place of a strong one', { etag: '"a"' }, { etag: 'W/"a"' }],
  ['an ETag where there was none', {}, { etag: '"a"' }],
  ['another type', { 'content-type': 'video/mp4' }, { 'content-type': 'text/plain' }],
]

test.each(OTHER_VERSIONS)(
  'a range with %s is another version for hash() and download()',
  async (_name, first, second) => {
    await using bench = await start([SAME])
    for (const read of [() => bench.files.hash(FILE), () => bench.files.download(FILE, { to: bench.path('x') })]) {
      bench.host.script(broken(first), otherRange(second)).otherwise(serveBytes(OTHER, { etag: null }))
      expect(await read()).toMatchObject({ sha256: sha256(OTHER) })
    }
  },
)

test.each(OTHER_VERSIONS)('a stream fails at a range with %s', async (_name, first, second) => {
  await using bench = await start([SAME])
  bench.host.script(broken(first)).otherwise(otherRange(second))
  const read = async () => {
    for await (const _ of bench.files.stream(FILE));
  }
  expect(await errorOf(read())).toMatchObject({ name: 'ProtocolError', message: /changed/ })
})

test.each(OTHER_VERSIONS)(
  'a part of another process is thrown away at a range with %s',
  async (_name, first, second) => {
    await using bench = await start([SAME])
    const to = bench.path('x')
    bench.host.script(broken(first))
    await errorOf(bench.files.download(FILE, { to, retry: { attempts: 1 } }))
    const { files } = testClient({ baseUrl: bench.api.baseUrl })
    bench.host.script(otherRange(second)).otherwise(serveBytes(OTHER, { etag: null }))
    expect(await files.download(FILE, { to })).toMatchObject({ sha256: sha256(OTHER), resumedFrom: 0 })
  },
)

test.each<[name: string, sent: Marks, condition: string | undefined]>([
  ['a strong ETag', { etag: '"a"', 'last-modified': MONDAY, date: TUESDAY }, '"a"'],
  ['the date where there is no ETag', { 'last-modified': MONDAY, date: TUESDAY }, MONDAY],
  ['no weak ETag, and no date beside it', { etag: 'W/"a"', 'last-modified': MONDAY, date: TUESDAY }, undefined],
  [
    'no date of the minute in which it was sent',
    { 'last-modified': MONDAY, date: 'Mon, 05 Jan 2026 10:00:59 GMT' },
    undefined,
  ],
  ['no date that is none', { 'last-modified': 'yesterday', date: TUESDAY }, undefined],
])('If-Range names %s', async (_name, sent, condition) => {
  await using bench = await start([SAME])
  const range = `bytes 100000-${CONTENT.length - 1}/${CONTENT.length}`
  bench.host.script(broken(sent), (response) =>
    response
      .writeHead(206, { ...sent, 'content-range': range, 'content-length': CONTENT.length - 100_000 })
      .end(CONTENT.subarray(100_000)),
  )
  expect(await bench.files.hash(FILE)).toMatchObject({ sha256: sha256(CONTENT) })
  expect(bench.host.seen[1]?.headers['if-range']).toBe(condition)
})

test('a strong ETag proves a range that leaves out the date', async () => {
  await using bench = await start([CHANGED])
  bench.host.script(broken({ etag: '"v1"', 'last-modified': MONDAY }), serveBytes(CONTENT))
  expect(await bench.files.hash(FILE)).toMatchObject({ sha256: sha256(CONTENT) })
  expect(bench.lookedAt()).toBe(0)
})

test('an equal strong ETag of another host proves nothing', async () => {
  await using other = await ScriptedServer.start()
  other.otherwise(otherRange({ etag: '"v1"' }))
  await using bench = await start([SAME, CHANGED])
  bench.host.script(broken({ etag: '"v1"' }), (response) =>
    response.writeHead(302, { location: `${other.origin}/there` }).end(),
  )
  bench.host.otherwise(serveBytes(OTHER))
  expect(await bench.files.hash(FILE)).toMatchObject({ sha256: sha256(OTHER) })
  expect([other.seen.length, bench.ranges()]).toEqual([1, [undefined, 'bytes=100000-', undefined]])
})

test('a range that is longer than it says is not joined', async () => {
  await using bench = await start([SAME])
  bench.host.script(broken({ etag: '"v1"' }), (response) =>
    response
      .writeHead(206, {
        etag: '"v1"',
        'content-range': `bytes 100000-100999/${CONTENT.length}`,
        'content-length': 2_000,
      })
      .end(OTHER.subarray(0, 2_000)),
  )
  bench.host.otherwise(serveBytes(CONTENT))
  expect(await bench.files.hash(FILE)).toMatchObject({ sha256: sha256(CONTENT) })
})

test('a file without a date is read anew from its beginning', async () => {
  await using bench = await start([{ size: FILE.size, modifiedAt: null }])
  bench.host.script(broken(), serveBytes(CONTENT, { etag: null }))
  expect(await bench.files.hash(REF)).toMatchObject({ sha256: sha256(CONTENT) })
  expect(bench.ranges()).toEqual([undefined, undefined])
})

test('a stream fails at its end when the file has changed after a range without an ETag', async () => {
  await using bench = await start([SAME, CHANGED])
  bench.host.script(broken(), otherRange())
  const read = async () => {
    for await (const _ of bench.files.stream(FILE));
  }
  expect(await errorOf(read())).toMatchObject({ name: 'ProtocolError', message: /changed/ })
})

test('a part that holds the whole file is not finished when the file has changed since', async () => {
  await using bench = await start([CHANGED])
  const to = bench.path('x')
  await writeFile(`${to}.part`, CONTENT)
  await writeFile(`${to}.part.json`, JSON.stringify({ ...FILE, version: versionBy(bench.host, null) }))
  bench.host.otherwise(serveBytes(OTHER, { etag: null }))
  expect(await bench.files.download(FILE, { to })).toMatchObject({ sha256: sha256(OTHER), resumedFrom: 0 })
})

test('a part that only a look has joined proves nothing to the next download, which looks again', async () => {
  await using bench = await start([SAME, CHANGED])
  const to = bench.path('x')
  const cut: Reply = (response) => {
    const range = `bytes 100000-${OTHER.length - 1}/${OTHER.length}`
    response.writeHead(206, { 'content-range': range, 'content-length': OTHER.length - 100_000 })
    response.write(OTHER.subarray(100_000, 200_000), () => void turn().then(() => response.destroy()))
  }
  await writeFile(`${to}.part`, CONTENT.subarray(0, 100_000))
  await writeFile(`${to}.part.json`, JSON.stringify({ ...FILE, version: versionBy(bench.host, null) }))
  bench.host.script(cut)
  await errorOf(bench.files.download(FILE, { to, retry: { attempts: 1 } }))
  expect(JSON.parse(await readFile(`${to}.part.json`, 'utf8'))).toMatchObject({ version: { host: null } })
  bench.host.otherwise(serveBytes(OTHER, { etag: '"v2"' }))
  expect(await bench.files.download(FILE, { to })).toMatchObject({ sha256: sha256(OTHER), resumedFrom: 0 })
})
