import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import type { FilesClientOptions } from '../../../src/files/index.ts'
import {
  cutAt,
  giveUrls,
  serveBytes,
  sha256,
  someBytes,
  tempDirectory,
  watchProgress,
} from '../support/download-host.ts'
import { failure, ScriptedServer, text } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

const REF = { service: 'storage_a', id: 'a' } as const
const CONTENT = someBytes(300_000)
const FILE = { ...REF, size: CONTENT.length, modifiedAt: '2026-01-02T00:00:00.000Z' }

async function start(options: Partial<FilesClientOptions> & { urlsLastMs?: number } = {}) {
  const { urlsLastMs, ...client } = options
  const api = await ScriptedServer.start()
  const host = await ScriptedServer.start()
  const directory = await tempDirectory()
  giveUrls(api, host, urlsLastMs)
  return {
    api,
    host,
    path: directory.path,
    ...testClient({ baseUrl: api.baseUrl, ...client }),
    async [Symbol.asyncDispose]() {
      await directory[Symbol.asyncDispose]()
      await host[Symbol.asyncDispose]()
      await api[Symbol.asyncDispose]()
    },
  }
}

describe('a download URL', () => {
  test.each([401, 403, 404, 410])('that the host refuses with %d is exchanged for a fresh one', async (status) => {
    await using rig = await start()
    rig.host.script(text(status, 'expired'), serveBytes(CONTENT))
    const done = await rig.files.download(FILE, { to: rig.path('x') })
    expect(done.sha256).toBe(sha256(CONTENT))
    expect(rig.host.seen.map((seen) => seen.path)).toEqual(['/bytes/1', '/bytes/2'])
  })

  test('that expires in the middle of a file, twice, is exchanged twice', async () => {
    await using rig = await start()
    const { reached, onProgress } = watchProgress()
    rig.host.script(
      cutAt(CONTENT, 100_000, { seen: reached(100_000) }),
      text(403, ''),
      cutAt(CONTENT, 200_000, { seen: reached(200_000) }),
      text(403, ''),
      serveBytes(CONTENT),
    )
    const done = await rig.files.download(FILE, { to: rig.path('x'), onProgress })
    expect(done.sha256).toBe(sha256(CONTENT))
    expect(rig.host.seen.map((seen) => `${seen.path} ${seen.headers.range ?? ''}`)).toEqual([
      '/bytes/1 ',
      '/bytes/1 bytes=100000-',
      '/bytes/2 bytes=100000-',
      '/bytes/2 bytes=200000-',
      '/bytes/3 bytes=200000-',
    ])
  })

  test('is exchanged before use when it has less than 30 seconds left', async () => {
    await using rig = await start({ urlsLastMs: 900_000 })
    const { reached, onProgress } = watchProgress()
    rig.host.script(cutAt(CONTENT, 100_000, { seen: reached(100_000) }), serveBytes(CONTENT))
    await rig.files.download(FILE, {
      to: rig.path('x'),
      onProgress: (progress) => {
        if (progress.bytes === 100_000) rig.clock.advance('871s')
        onProgress(progress)
      },
    })
    expect(rig.host.seen.map((seen) => seen.path)).toEqual(['/bytes/1', '/bytes/2'])
  })

  test('that always expires at once is used all the same', async () => {
    await using rig = await start({ urlsLastMs: 1_000 })
    rig.host.script(serveBytes(CONTENT))
    expect(await rig.files.download(FILE, { to: rig.path('x') })).toMatchObject({ bytes: CONTENT.length })
  })

  test('that is refused however fresh is not asked for without end', async () => {
    await using rig = await start()
    rig.host.otherwise(text(403, 'never'))
    expect(await errorOf(rig.files.download(FILE, { to: rig.path('x') }))).toMatchObject({ name: 'PermissionError' })
    expect(rig.host.seen).toHaveLength(4)
  })

  test('of a file that is gone ends in the service’s own 404', async () => {
    await using rig = await start()
    rig.host.script(text(404, ''))
    let asked = 0
    rig.api.otherwise((response, request) => {
      const downloadUrl = { downloadUrl: `${rig.host.origin}/bytes/1?signature=hush` }
      const reply =
        asked++ === 0
          ? text(200, JSON.stringify({ success: true, data: downloadUrl }))
          : failure(404, 'resource_not_found')
      reply(response, request)
    })
    expect(await errorOf(rig.files.download(FILE, { to: rig.path('x') }))).toMatchObject({
      name: 'NotFoundError',
      code: 'resource_not_found',
    })
  })

  test('on a host that is not on the list is not followed', async () => {
    await using rig = await start({ downloadHosts: ['dl.example.com'] })
    expect(await errorOf(rig.files.download(FILE, { to: rig.path('x') }))).toMatchObject({ name: 'ProtocolError' })
    expect(rig.host.seen).toHaveLength(0)
  })

  test('on a listed host is', async () => {
    await using rig = await start({ downloadHosts: ['127.0.0.1'] })
    rig.host.script(serveBytes(CONTENT))
    expect(await rig.files.download(FILE, { to: rig.path('x') })).toMatchObject({ bytes: CONTENT.length })
  })
})

describe('the download host', () => {
  test('may ask for patience, which closes no key', async () => {
    await using rig = await start()
    rig.host.script(text(429, '', { 'retry-after': '5' }), text(503, ''), serveBytes(CONTENT))
    expect(await rig.files.download(FILE, { to: rig.path('x') })).toMatchObject({ bytes: CONTENT.length })
    expect(rig.pauses).toEqual([5_000])
  })

  test('that breaks off after every byte that was there before is not tried for ever', async () => {
    await using rig = await start()
    const { reached, onProgress } = watchProgress()
    rig.host.script(cutAt(CONTENT, 100_000, { seen: reached(100_000) }))
    rig.host.otherwise((response) => {
      response.writeHead(200, { etag: '"v1"', 'content-length': CONTENT.length }).write(CONTENT.subarray(0, 50_000))
      void reached(50_000).then(() => response.destroy())
    })
    expect(await errorOf(rig.files.download(FILE, { to: rig.path('x'), onProgress }))).toMatchObject({
      name: 'ConnectionError',
    })
    expect(rig.host.seen.length).toBeLessThanOrEqual(6)
  })

  test('that closes without a length before the end is continued', async () => {
    await using rig = await start()
    rig.host.script((response) => {
      response.useChunkedEncodingByDefault = false
      response.writeHead(200, { etag: '"v1"', connection: 'close' }).end(CONTENT.subarray(0, 100_000))
    }, serveBytes(CONTENT))
    expect(await rig.files.download(FILE, { to: rig.path('x') })).toMatchObject({ sha256: sha256(CONTENT) })
    expect(rig.host.seen[1]?.headers.range).toBe('bytes=100000-')
  })
})

describe('a size that differs', () => {
  test.each([
    ['less', 299_000],
    ['more', 301_000],
  ])('from the announced by %s bytes makes no file', async (_name, size) => {
    await using rig = await start()
    rig.host.otherwise(serveBytes(CONTENT))
    const to = rig.path('x')
    expect(await errorOf(rig.files.download({ ...FILE, size }, { to }))).toMatchObject({
      name: 'ProtocolError',
      retryable: false,
    })
    expect([to, `${to}.part`, `${to}.part.json`].map(existsSync)).toEqual([false, false, false])
  })

  test('shows in bytes beyond the announced, too', async () => {
    await using rig = await start()
    rig.host.otherwise((response) => response.writeHead(200).end(CONTENT))
    const to = rig.path('x')
    expect(await errorOf(rig.files.download({ ...FILE, size: 1_000 }, { to }))).toMatchObject({ name: 'ProtocolError' })
    expect(existsSync(to)).toBe(false)
  })
})

describe('a part from before', () => {
  const marks = (more: Record<string, unknown> = {}) =>
    JSON.stringify({ ...REF, size: CONTENT.length, modifiedAt: FILE.modifiedAt, etag: '"v1"', ...more })

  async function leave(path: string, part: Uint8Array, json: string): Promise<void> {
    await writeFile(`${path}.part`, part)
    await writeFile(`${path}.part.json`, json)
  }

  test('is continued', async () => {
    await using rig = await start()
    await leave(rig.path('x'), CONTENT.subarray(0, 70_000), marks())
    rig.host.script(serveBytes(CONTENT))
    const done = await rig.files.download(FILE, { to: rig.path('x') })
    expect(done).toMatchObject({ sha256: sha256(CONTENT), resumedFrom: 70_000 })
    expect(await readFile(rig.path('x'))).toEqual(CONTENT)
  })

  test('is continued without an ETag when size and date agree', async () => {
    await using rig = await start()
    await leave(rig.path('x'), CONTENT.subarray(0, 70_000), marks({ etag: null }))
    rig.host.script(serveBytes(CONTENT, { etag: null }))
    expect(await rig.files.download(FILE, { to: rig.path('x') })).toMatchObject({ resumedFrom: 70_000 })
    expect(rig.host.seen[0]?.headers['if-range']).toBeUndefined()
  })

  test.each([
    ['of another file', marks({ id: 'b' })],
    ['of another date', marks({ modifiedAt: '2025-01-01T00:00:00.000Z' })],
    ['of another size', marks({ size: 5 })],
    ['without readable marks', '{'],
  ])('%s is thrown away', async (_name, json) => {
    await using rig = await start()
    await leave(rig.path('x'), Buffer.alloc(70_000, 1), json)
    rig.host.script(serveBytes(CONTENT))
    const done = await rig.files.download(FILE, { to: rig.path('x') })
    expect(done).toMatchObject({ sha256: sha256(CONTENT), resumedFrom: 0 })
    expect(rig.host.seen[0]?.headers.range).toBeUndefined()
  })

  test('is thrown away when it is not to be continued', async () => {
    await using rig = await start()
    await leave(rig.path('x'), CONTENT.subarray(0, 70_000), marks())
    rig.host.script(serveBytes(CONTENT))
    expect(await rig.files.download(FILE, { to: rig.path('x'), resume: false })).toMatchObject({ resumedFrom: 0 })
  })

  test('that holds everything is finished by a 416', async () => {
    await using rig = await start()
    await leave(rig.path('x'), CONTENT, marks({ size: null }))
    rig.host.script(serveBytes(CONTENT))
    const done = await rig.files.download(REF, { to: rig.path('x') })
    expect(done).toMatchObject({ sha256: sha256(CONTENT), resumedFrom: CONTENT.length })
  })

  test('that is longer than the file begins anew after a 416', async () => {
    await using rig = await start()
    await leave(rig.path('x'), Buffer.alloc(400_000), marks({ size: null }))
    rig.host.otherwise(serveBytes(CONTENT))
    const done = await rig.files.download(REF, { to: rig.path('x') })
    expect(done).toMatchObject({ sha256: sha256(CONTENT), resumedFrom: 0 })
  })
})

test('two downloads to one path follow each other', async () => {
  await using rig = await start()
  const gate = Promise.withResolvers<void>()
  rig.host.script((response, request) => void gate.promise.then(() => serveBytes(CONTENT)(response, request)))
  rig.host.otherwise(serveBytes(CONTENT))
  const to = rig.path('x')
  const both = Promise.all([rig.files.download(FILE, { to }), rig.files.download(FILE, { to })])
  await rig.host.received(1)
  gate.resolve()
  expect((await both).map((done) => done.sha256)).toEqual([sha256(CONTENT), sha256(CONTENT)])
  expect(rig.host.seen.map((seen) => seen.path)).toEqual(['/bytes/1', '/bytes/2'])
})

test('an aborted download leaves its part for the next', async () => {
  await using rig = await start()
  const caller = new AbortController()
  rig.host.script(cutAt(CONTENT, 100_000, { seen: new Promise(() => {}) }))
  const onProgress = ({ bytes }: { bytes: number }) => bytes === 100_000 && caller.abort()
  const to = rig.path('x')
  const error = await errorOf(rig.files.download(FILE, { to, onProgress, signal: caller.signal }))
  expect(error).toMatchObject({ name: 'AbortedError', operation: 'download' })
  rig.host.script(serveBytes(CONTENT))
  expect(await rig.files.download(FILE, { to })).toMatchObject({ resumedFrom: 100_000, sha256: sha256(CONTENT) })
})

describe('stream', () => {
  async function collect(chunks: AsyncIterable<Uint8Array>, onProgress: (progress: { bytes: number }) => void) {
    const parts: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of chunks) {
      parts.push(chunk)
      bytes += chunk.byteLength
      onProgress({ bytes })
    }
    return Buffer.concat(parts)
  }

  test('goes on where the connection broke', async () => {
    await using rig = await start()
    const { reached, onProgress } = watchProgress()
    rig.host.script(cutAt(CONTENT, 100_000, { seen: reached(100_000) }), serveBytes(CONTENT))
    expect(await collect(rig.files.stream(FILE), onProgress)).toEqual(CONTENT)
  })

  test('gives each byte once although the server begins anew', async () => {
    await using rig = await start()
    const { reached, onProgress } = watchProgress()
    rig.host.script(cutAt(CONTENT, 100_000, { seen: reached(100_000) }), serveBytes(CONTENT, { ranges: false }))
    expect(await collect(rig.files.stream(FILE), onProgress)).toEqual(CONTENT)
  })

  test('fails when the file has changed on the way', async () => {
    await using rig = await start()
    const { reached, onProgress } = watchProgress()
    rig.host.script(cutAt(CONTENT, 100_000, { seen: reached(100_000) }), serveBytes(CONTENT, { etag: '"v2"' }))
    expect(await errorOf(collect(rig.files.stream(FILE), onProgress))).toMatchObject({ name: 'ProtocolError' })
  })

  test('ends its connection when the reader has enough', async () => {
    await using rig = await start()
    const closed = Promise.withResolvers<void>()
    rig.host.script((response) => {
      response.on('close', () => closed.resolve())
      response.writeHead(200, { 'content-length': CONTENT.length }).write(CONTENT.subarray(0, 1_000))
    })
    for await (const chunk of rig.files.stream(FILE)) {
      expect(chunk.byteLength).toBe(1_000)
      break
    }
    await closed.promise
    await rig.files.stop()
  })
})
