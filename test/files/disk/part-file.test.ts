import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { CONTENT, FILE, startDownloads, test } from '../support/download-bench.ts'
import { cutAt, serveBytes, sha256, versionBy } from '../support/download-host.ts'
import { REF } from '../support/entries.ts'
import { BEGINNING, LARGE_FILE, MIB, startLargePart, WHOLE } from '../support/large-part.ts'
import { failure, type ScriptedServer } from '../support/scripted-server.ts'
import { errorOf } from '../support/test-client.ts'

const SCRIPT = fileURLToPath(new URL('../support/download-process.ts', import.meta.url))

const marks = (host: ScriptedServer, more: Record<string, unknown> = {}) =>
  JSON.stringify({ ...REF, size: CONTENT.length, modifiedAt: FILE.modifiedAt, version: versionBy(host), ...more })

async function leave(path: string, part: Uint8Array, json: string): Promise<void> {
  await writeFile(`${path}.part`, part)
  await writeFile(`${path}.part.json`, json)
}

async function partBytes(to: string): Promise<number> {
  return await stat(`${to}.part`).then(
    ({ size }) => size,
    () => 0,
  )
}

test('a part without an ETag is continued when size and date agree', async ({ downloads: bench }) => {
  await leave(bench.path('x'), CONTENT.subarray(0, 70_000), marks(bench.host, { version: versionBy(bench.host, null) }))
  bench.host.script(serveBytes(CONTENT, { etag: null }))
  expect(await bench.files.download(FILE, { to: bench.path('x') })).toMatchObject({ resumedFrom: 70_000 })
  expect(bench.host.seen[0]?.headers['if-range']).toBeUndefined()
})

test.each([
  ['of another file', { id: 'b' }],
  ['of another date', { modifiedAt: '2025-01-01T00:00:00.000Z' }],
  ['of another size', { size: 5 }],
  ['of an unknown version', { version: undefined }],
  ['without readable marks', null],
])('a part %s is thrown away', async (_name, more) => {
  await using bench = await startDownloads()
  await leave(bench.path('x'), Buffer.alloc(70_000, 1), more === null ? '{' : marks(bench.host, more))
  bench.host.script(serveBytes(CONTENT))
  const done = await bench.files.download(FILE, { to: bench.path('x') })
  expect(done).toMatchObject({ sha256: sha256(CONTENT), resumedFrom: 0 })
  expect(bench.host.seen[0]?.headers.range).toBeUndefined()
})

test('a part is thrown away when `resume` is false', async ({ downloads: bench }) => {
  await leave(bench.path('x'), CONTENT.subarray(0, 70_000), marks(bench.host))
  bench.host.script(serveBytes(CONTENT))
  expect(await bench.files.download(FILE, { to: bench.path('x'), resume: false })).toMatchObject({ resumedFrom: 0 })
})

test('a part that holds the whole file is finished by a 416', async () => {
  await using bench = await startDownloads({ details: () => ({ size: null }) })
  await leave(bench.path('x'), CONTENT, marks(bench.host, { size: null }))
  bench.host.script(serveBytes(CONTENT))
  const done = await bench.files.download(REF, { to: bench.path('x') })
  expect(done).toMatchObject({ sha256: sha256(CONTENT), resumedFrom: CONTENT.length })
})

test('a part that is longer than the file is thrown away after a 416', async () => {
  await using bench = await startDownloads({ details: () => ({ size: null }) })
  await leave(bench.path('x'), Buffer.alloc(400_000), marks(bench.host, { size: null }))
  bench.host.otherwise(serveBytes(CONTENT))
  const done = await bench.files.download(REF, { to: bench.path('x') })
  expect(done).toMatchObject({ sha256: sha256(CONTENT), resumedFrom: 0 })
})

test('an aborted download leaves its part for the next one', async ({ downloads: bench }) => {
  const caller = new AbortController()
  bench.host.script(cutAt(CONTENT, 100_000, { seen: new Promise(() => {}) }))
  const onProgress = ({ bytes }: { bytes: number }) => bytes === 100_000 && caller.abort()
  const to = bench.path('x')
  const error = await errorOf(bench.files.download(FILE, { to, onProgress, signal: caller.signal }))
  expect(error).toMatchObject({ name: 'AbortedError', operation: 'download' })
  bench.host.script(serveBytes(CONTENT))
  expect(await bench.files.download(FILE, { to })).toMatchObject({ resumedFrom: 100_000, sha256: sha256(CONTENT) })
})

test('a download that fails before its first byte leaves no part', async ({ downloads: bench }) => {
  bench.host.otherwise(failure(403, 'permission_denied'))
  const to = bench.path('x')
  expect(await errorOf(bench.files.download(FILE, { to }))).toMatchObject({ name: 'PermissionError' })
  expect(await readdir(dirname(to))).toEqual([])
})

test('a large part is hashed while the rest arrives', async () => {
  await using bench = await startLargePart()
  bench.host.script(serveBytes(WHOLE))
  expect(await bench.files.download(LARGE_FILE, { to: bench.to })).toMatchObject({
    resumedFrom: BEGINNING.length,
    bytes: WHOLE.length,
    sha256: sha256(WHOLE),
  })
})

test('a large part that is the whole file is hashed without a request to its host', async () => {
  await using bench = await startLargePart()
  await writeFile(`${bench.to}.part`, WHOLE)
  expect(await bench.files.download(LARGE_FILE, { to: bench.to })).toMatchObject({ sha256: sha256(WHOLE) })
  expect(bench.host.seen).toEqual([])
})

test('a large part stays for the next download when the rest does not arrive', async () => {
  await using bench = await startLargePart()
  bench.api.otherwise(failure(403, 'permission_denied'))
  await errorOf(bench.files.download(LARGE_FILE, { to: bench.to }))
  expect((await stat(`${bench.to}.part`)).size).toBe(BEGINNING.length)
})

test('a process that is killed leaves a part without holes, which another one continues', async () => {
  await using bench = await startLargePart()
  const to = `${bench.to}-killed`
  bench.host.script(cutAt(WHOLE, 17 * MIB, { seen: new Promise(() => {}) }))
  const child = spawn(process.execPath, [SCRIPT, bench.api.baseUrl, JSON.stringify(LARGE_FILE), to], {
    stdio: 'ignore',
  })
  await expect.poll(() => partBytes(to), { interval: 5, timeout: 20_000 }).toBeGreaterThan(4 * MIB)
  child.kill('SIGKILL')
  await once(child, 'exit')
  const left = await readFile(`${to}.part`)
  expect(sha256(left)).toBe(sha256(WHOLE.subarray(0, left.length)))
  bench.host.script(serveBytes(WHOLE))
  const done = await bench.files.download(LARGE_FILE, { to })
  expect(done).toMatchObject({ resumedFrom: left.length, sha256: sha256(WHOLE) })
  expect(sha256(await readFile(to))).toBe(done.sha256)
})

test('a disk that refuses fails the download with its own error', async ({ downloads: bench }) => {
  bench.host.otherwise(serveBytes(CONTENT))
  await writeFile(bench.path('file'), '')
  const error = await errorOf(bench.files.download(REF, { to: bench.path('file/below') }))
  expect(error).toMatchObject({ code: expect.stringMatching(/EEXIST|ENOTDIR/) })
})
