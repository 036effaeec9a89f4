import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, copyFile, open, readFile, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../../src/core/time.ts'
import { continuedHash, emptyHash } from '../../../src/files/disk/begin-hash.ts'
import { KeptHashes } from '../../../src/files/disk/kept-hashes.ts'
import { PartFile } from '../../../src/files/disk/part-file.ts'
import { ThreadedHash } from '../../../src/files/disk/threaded-hash.ts'
import { UncachedFile } from '../../../src/files/disk/uncached-file.ts'
import { cutAt, giveUrls, serveBytes, sha256, someBytes, tempDirectory } from '../support/download-host.ts'
import { failure, ScriptedServer } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

const MIB = 1024 * 1024
const SCRIPT = fileURLToPath(new URL('download-process.ts', import.meta.url))
/** Large enough for a thread. */
const BEGINNING = someBytes(9 * MIB)
const NEVER = new AbortController().signal
/** Nothing is read before more is appended. */
const BESIDE = { signal: NEVER, readFirstBytes: 0 }
const WHOLE = Buffer.concat([BEGINNING, someBytes(11 * MIB).reverse()])
const FILE = { service: 'storage_a', id: 'a', size: WHOLE.length, modifiedAt: '2026-01-02T00:00:00.000Z' } as const

async function start() {
  const api = await ScriptedServer.start()
  const host = await ScriptedServer.start()
  const directory = await tempDirectory()
  giveUrls(api, host)
  const to = directory.path('file')
  await writeFile(`${to}.part`, BEGINNING)
  await writeFile(`${to}.part.json`, JSON.stringify({ ...FILE, etag: '"v1"' }))
  return {
    host,
    api,
    to,
    ...testClient({ baseUrl: api.baseUrl }),
    async [Symbol.asyncDispose]() {
      await directory[Symbol.asyncDispose]()
      await host[Symbol.asyncDispose]()
      await api[Symbol.asyncDispose]()
    },
  }
}

describe('a large part', () => {
  test('is hashed while the rest comes', async () => {
    await using rig = await start()
    rig.host.script(serveBytes(WHOLE))
    expect(await rig.files.download(FILE, { to: rig.to })).toMatchObject({
      resumedFrom: BEGINNING.length,
      bytes: WHOLE.length,
      sha256: sha256(WHOLE),
    })
  })

  test('that is the whole file already is hashed all the same', async () => {
    await using rig = await start()
    await writeFile(`${rig.to}.part`, WHOLE)
    expect(await rig.files.download(FILE, { to: rig.to })).toMatchObject({ sha256: sha256(WHOLE) })
    expect(rig.host.seen).toEqual([])
  })

  test('is forgotten where the file has changed', async () => {
    await using rig = await start()
    const other = someBytes(WHOLE.length).reverse()
    rig.host.otherwise(serveBytes(other, { etag: '"v2"' }))
    expect(await rig.files.download(FILE, { to: rig.to })).toMatchObject({ resumedFrom: 0, sha256: sha256(other) })
  })

  test('stays for the next time when the rest does not come', async () => {
    await using rig = await start()
    rig.api.otherwise(failure(403, 'permission_denied'))
    await errorOf(rig.files.download(FILE, { to: rig.to }))
    expect((await stat(`${rig.to}.part`)).size).toBe(BEGINNING.length)
  })
})

describe.each([0, 1, 5 * MIB, 9 * MIB])('a file with %i bytes', (size) => {
  const more = someBytes(5 * MIB + 3)
  const whole = Buffer.concat([BEGINNING.subarray(0, size), more])

  test.each([null, whole.length])('is hashed with what is appended (said to become: %s)', async (total) => {
    await using directory = await tempDirectory()
    const path = directory.path('file')
    await writeFile(path, BEGINNING.subarray(0, size))
    const file = await UncachedFile.open(path)
    const hash = size === 0 ? emptyHash(total) : await continuedHash(file, { bytes: size, size: total, signal: NEVER })
    let at = size
    for (const piece of [more.subarray(0, 3 * MIB), more.subarray(3 * MIB)]) {
      await hash.update(piece)
      await appendFile(path, piece)
      at += piece.length
      hash.reach(at)
    }
    expect(await hash.settle(at)).toBe(true)
    expect(await hash.digest(at)).toBe(sha256(whole))
    expect(await hash.settle(at)).toBe(false)
    await file.close()
  })
})

describe('a thread that reads what the file has', () => {
  async function openPart() {
    const directory = await tempDirectory()
    const path = directory.path('file')
    await writeFile(path, BEGINNING)
    const file = await UncachedFile.open(path)
    return {
      path,
      file,
      async [Symbol.asyncDispose]() {
        await file.close()
        await directory[Symbol.asyncDispose]()
      },
    }
  }

  test('takes what follows from memory once it has caught up', async () => {
    await using part = await openPart()
    const hash = await continuedHash(part.file, { bytes: BEGINNING.length, size: null, signal: NEVER })
    await hash.update(Buffer.from('only in memory'))
    hash.reach(BEGINNING.length + 14)
    expect(await hash.digest(BEGINNING.length + 14)).toBe(
      sha256(Buffer.concat([BEGINNING, Buffer.from('only in memory')])),
    )
  })

  test('reads what follows while it has not', async () => {
    await using part = await openPart()
    const hash = await ThreadedHash.ofFile(part.file.descriptors, BEGINNING.length, BESIDE)
    await hash.update(Buffer.from('only in memory'))
    await appendFile(part.path, 'in the file!!!')
    hash.reach(BEGINNING.length + 14)
    expect(await hash.digest(BEGINNING.length + 14)).toBe(
      sha256(Buffer.concat([BEGINNING, Buffer.from('in the file!!!')])),
    )
  })

  test.each(['before', 'while'])('is not waited for by a caller who gives up %s it reads', async (moment) => {
    await using part = await openPart()
    const caller = new AbortController()
    if (moment === 'before') caller.abort('enough')
    const begun = ThreadedHash.ofFile(part.file.descriptors, BEGINNING.length, { signal: caller.signal })
    caller.abort('enough')
    expect(await errorOf(begun)).toBe('enough')
  })

  test('knows too little to be continued while it has not', async () => {
    await using part = await openPart()
    const hash = await ThreadedHash.ofFile(part.file.descriptors, BEGINNING.length, BESIDE)
    expect(await hash.settle(BEGINNING.length)).toBe(false)
  })

  test('fails the hash where somebody has cut the file', async () => {
    await using part = await openPart()
    await truncate(part.path, MIB)
    const hash = await continuedHash(part.file, { bytes: BEGINNING.length, size: null, signal: NEVER })
    expect(await errorOf(hash.digest(BEGINNING.length))).toMatchObject({
      message: expect.stringContaining('the part has'),
    })
  })

  test('knows nothing of a hash that has ended', async () => {
    const hash = emptyHash(null)
    await hash.end()
    expect(await hash.settle(0)).toBe(false)
    expect(await errorOf(hash.update(Buffer.from('more')))).toMatchObject({
      message: expect.stringContaining('has ended'),
    })
  })
})

test('the thread keeps a script alive until the hash is there, and no longer', async () => {
  await using rig = await start()
  const paths = [`${rig.to}-1`, `${rig.to}-2`]
  for (const path of paths) {
    // Nothing but the hash is left to do.
    await writeFile(`${path}.part`, WHOLE)
    await copyFile(`${rig.to}.part.json`, `${path}.part.json`)
  }
  const run = promisify(execFile)(process.execPath, [SCRIPT, rig.api.baseUrl, JSON.stringify(FILE), ...paths])
  expect((await run).stdout).toBe(`${sha256(WHOLE)} ${sha256(WHOLE)} `)
  expect(rig.host.seen).toEqual([])
})

test('a process that is killed leaves a part without holes, which another one continues', async () => {
  await using rig = await start()
  const to = `${rig.to}-killed`
  rig.host.script(cutAt(WHOLE, 17 * MIB, { seen: new Promise(() => {}) }))
  const child = spawn(process.execPath, [SCRIPT, rig.api.baseUrl, JSON.stringify(FILE), to], { stdio: 'ignore' })
  await expect.poll(() => partBytes(to), { interval: 5, timeout: 20_000 }).toBeGreaterThan(4 * MIB)
  child.kill('SIGKILL')
  await once(child, 'exit')
  const left = await readFile(`${to}.part`)
  expect(sha256(left)).toBe(sha256(WHOLE.subarray(0, left.length)))
  rig.host.script(serveBytes(WHOLE))
  const done = await rig.files.download(FILE, { to })
  expect(done).toMatchObject({ resumedFrom: left.length, sha256: sha256(WHOLE) })
  expect(sha256(await readFile(to))).toBe(done.sha256)
})

async function partBytes(to: string): Promise<number> {
  return await stat(`${to}.part`).then(
    ({ size }) => size,
    () => 0,
  )
}

describe('the hash of a part that this process has left', () => {
  async function leave(bytes: Buffer) {
    const directory = await tempDirectory()
    const to = directory.path('file')
    const request = { to, wanted: { ...FILE }, resume: true, kept: new KeptHashes(), clock: systemClock, signal: NEVER }
    const part = await PartFile.open(request)
    await part.expectFrom(0, '"v1"')
    await part.append(bytes)
    await part.leave()
    return { request, path: `${to}.part`, [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose]() }
  }

  async function finish(request: Parameters<typeof PartFile.open>[0], rest: Buffer): Promise<string> {
    const part = await PartFile.open(request)
    await part.expectFrom(part.bytes, '"v1"')
    await part.append(rest)
    return (await part.finish()).sha256
  }

  test('is continued, and of no other process', async () => {
    await using left = await leave(BEGINNING)
    const handle = await open(left.path)
    const claimed = emptyHash(null)
    await claimed.update(Buffer.from('as if this was in it'))
    await left.request.kept.keep(left.request.to, claimed, handle)
    await handle.close()
    expect(await finish(left.request, Buffer.from('!'))).toBe(sha256(Buffer.from('as if this was in it!')))
    await using other = await leave(BEGINNING)
    const unknown = { ...other.request, kept: new KeptHashes() }
    expect(await finish(unknown, Buffer.from('!'))).toBe(sha256(Buffer.concat([BEGINNING, Buffer.from('!')])))
  })

  test.each([
    [
      'was written to',
      (path: string) => writeFile(path, Buffer.alloc(BEGINNING.length, 'x')),
      'x'.repeat(BEGINNING.length),
    ],
    ['was cut', (path: string) => truncate(path, 5), BEGINNING.subarray(0, 5)],
    [
      'was written to and given its time again',
      async (path: string) => {
        const { atime, mtime } = await stat(path)
        await writeFile(path, Buffer.alloc(BEGINNING.length, 'x'))
        await utimes(path, atime, mtime)
      },
      'x'.repeat(BEGINNING.length),
    ],
  ])('is not believed where the part %s', async (_what, touch, content) => {
    await using left = await leave(BEGINNING)
    await touch(left.path)
    expect(await finish(left.request, Buffer.from('!'))).toBe(
      sha256(Buffer.concat([Buffer.from(content), Buffer.from('!')])),
    )
  })

  test.skipIf(process.platform !== 'linux')('is not kept of bytes that the disk did not take', async () => {
    await using directory = await tempDirectory()
    const to = directory.path('file')
    await symlink('/dev/full', `${to}.part`)
    await writeFile(`${to}.part.json`, JSON.stringify({ ...FILE, etag: '"v1"' }))
    const kept = new KeptHashes()
    const part = await PartFile.open({ to, wanted: { ...FILE }, resume: true, kept, clock: systemClock, signal: NEVER })
    await part.append(Buffer.from('lost'))
    await part.leave()
    const handle = await open(`${to}.part`)
    expect(await kept.take(to, handle)).toBeNull()
    await handle.close()
  })

  test('makes room for a thousand others, and is read again then', async () => {
    await using directory = await tempDirectory()
    const handle = await open(directory.path('file'), 'w')
    const kept = new KeptHashes()
    for (let n = 0; n <= 1_000; n++) await kept.keep(`/part/${n}`, emptyHash(0), handle)
    expect(await kept.take('/part/0', handle)).toBeNull()
    expect(await kept.take('/part/1', handle)).not.toBeNull()
    expect(await kept.take('/part/1', handle)).toBeNull()
    await handle.close()
  })

  test('goes on through aborted downloads to the hash of the whole', async () => {
    await using rig = await start()
    const to = `${rig.to}-aborted`
    for (const share of [0.3, 0.6]) {
      const caller = new AbortController()
      rig.host.script(cutAt(WHOLE, Math.floor(WHOLE.length * share), { seen: new Promise(() => {}) }))
      const onProgress = ({ bytes }: { bytes: number }) => bytes >= WHOLE.length * share - 1 && caller.abort()
      await errorOf(rig.files.download(FILE, { to, onProgress, signal: caller.signal }))
    }
    rig.host.script(serveBytes(WHOLE))
    const done = await rig.files.download(FILE, { to })
    expect(done).toMatchObject({ resumedFrom: Math.floor(WHOLE.length * 0.6), sha256: sha256(WHOLE) })
  })
})
