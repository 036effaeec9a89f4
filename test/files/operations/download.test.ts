import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
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
import { reset, ScriptedServer } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

const REF = { service: 'storage_a', id: 'a' } as const
const CONTENT = someBytes(300_000)
const FILE = { ...REF, size: CONTENT.length, modifiedAt: '2026-01-02T00:00:00.000Z' }

/** An API that gives out URLs of a host, a client, and a directory to download into. */
async function start(options: Partial<FilesClientOptions> = {}) {
  const api = await ScriptedServer.start()
  const host = await ScriptedServer.start()
  const directory = await tempDirectory()
  giveUrls(api, host)
  return {
    api,
    host,
    path: directory.path,
    ...testClient({ baseUrl: api.baseUrl, ...options }),
    async [Symbol.asyncDispose]() {
      await directory[Symbol.asyncDispose]()
      await host[Symbol.asyncDispose]()
      await api[Symbol.asyncDispose]()
    },
  }
}

test('writes the bytes atomically, without telling the download host the key', async () => {
  await using rig = await start()
  rig.host.script(serveBytes(CONTENT))
  const progress: { bytes: number; total: number | null }[] = []
  const to = rig.path('deep/er/report.bin')

  const done = await rig.files.download(FILE, { to, onProgress: (step) => progress.push(step) })

  expect(done).toEqual({ path: to, bytes: CONTENT.length, sha256: sha256(CONTENT), resumedFrom: 0 })
  expect(await readFile(to)).toEqual(CONTENT)
  expect(await readdir(dirname(to))).toEqual(['report.bin'])
  expect(progress.at(-1)).toEqual({ bytes: CONTENT.length, total: CONTENT.length })
  expect(rig.host.seen[0]?.headers.authorization).toBeUndefined()
})

test('writes an empty file', async () => {
  await using rig = await start()
  rig.host.script(serveBytes(Buffer.alloc(0)))
  const to = rig.path('empty')
  const done = await rig.files.download({ ...REF, size: 0 }, { to })
  expect(done).toMatchObject({ bytes: 0, sha256: sha256(Buffer.alloc(0)) })
  expect(await readFile(to)).toHaveLength(0)
})

describe('a broken connection', () => {
  test('is continued where it broke, with the ETag as a condition', async () => {
    await using rig = await start()
    const { reached, onProgress } = watchProgress()
    const cuts = [100_000, 200_000].map((until) => cutAt(CONTENT, until, { seen: reached(until) }))
    rig.host.script(...cuts, serveBytes(CONTENT))

    const done = await rig.files.download(FILE, { to: rig.path('x'), onProgress })

    expect(done).toMatchObject({ sha256: sha256(CONTENT), resumedFrom: 0 })
    expect(rig.host.seen.map((seen) => seen.headers.range)).toEqual([undefined, 'bytes=100000-', 'bytes=200000-'])
    expect(rig.host.seen[1]?.headers['if-range']).toBe('"v1"')
  })

  test('starts again at 0 when the server ignores the range', async () => {
    await using rig = await start()
    const { reached, onProgress } = watchProgress()
    rig.host.script(cutAt(CONTENT, 100_000, { seen: reached(100_000) }), serveBytes(CONTENT, { ranges: false }))
    const done = await rig.files.download(FILE, { to: rig.path('x'), onProgress })
    expect(done.sha256).toBe(sha256(CONTENT))
  })

  test('starts again at 0 when the file is another one by now', async () => {
    await using rig = await start()
    const { reached, onProgress } = watchProgress()
    const other = Buffer.from(CONTENT).fill(7)
    rig.host.script(cutAt(CONTENT, 100_000, { seen: reached(100_000) }), serveBytes(other, { etag: '"v2"' }))
    const done = await rig.files.download(FILE, { to: rig.path('x'), onProgress })
    expect(done.sha256).toBe(sha256(other))
  })

  test('starts again at 0 when a range comes from another version', async () => {
    await using rig = await start()
    const { reached, onProgress } = watchProgress()
    const other = Buffer.from(CONTENT).fill(7)
    const never = new Promise<void>(() => {})
    rig.host.script(
      cutAt(CONTENT, 100_000, { seen: reached(100_000) }),
      cutAt(other, other.length, { seen: never, etag: '"v2"' }),
      serveBytes(other, { etag: '"v2"' }),
    )
    const done = await rig.files.download(FILE, { to: rig.path('x'), onProgress })
    expect(done.sha256).toBe(sha256(other))
    expect(rig.host.seen.map((seen) => seen.headers.range)).toEqual([undefined, 'bytes=100000-', undefined])
  })

  test('gives up when nothing new comes any more, and the next call goes on from there', async () => {
    await using rig = await start()
    const { reached, onProgress } = watchProgress()
    rig.host.script(cutAt(CONTENT, 100_000, { seen: reached(100_000) })).otherwise(reset)
    const to = rig.path('x')
    expect(await errorOf(rig.files.download(FILE, { to, onProgress }))).toMatchObject({
      name: 'ConnectionError',
      retryable: true,
    })
    expect(existsSync(to)).toBe(false)

    rig.host.otherwise(serveBytes(CONTENT))
    const done = await rig.files.download(FILE, { to })
    expect(done).toMatchObject({ sha256: sha256(CONTENT), bytes: CONTENT.length, resumedFrom: 100_000 })
    expect(await readdir(dirname(to))).toEqual(['x'])
  })
})
