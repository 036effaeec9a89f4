import { open, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { ManualClock } from '../../../src/core/time.ts'
import { emptyHash } from '../../../src/files/disk/begin-hash.ts'
import { BlockWriter } from '../../../src/files/disk/block-writer.ts'
import { UncachedFile } from '../../../src/files/disk/uncached-file.ts'
import { giveUrls, serveBytes, sha256, someBytes, tempDirectory } from '../support/download-host.ts'
import { ScriptedServer } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

const MIB = 1024 * 1024
/** More than the blocks that there are. */
const MORE = someBytes(11 * MIB + 17)

async function openWriter(path: string, { at = 0 } = {}) {
  const file = await UncachedFile.open(path)
  const clock = new ManualClock()
  const writer = new BlockWriter(file, { hash: emptyHash(0), at, clock })
  return {
    file,
    clock,
    writer,
    async appendAll(bytes: Uint8Array, pieceBytes = 50_000) {
      for (let from = 0; from < bytes.length; from += pieceBytes) {
        const piece = Uint8Array.from(bytes.subarray(from, from + pieceBytes))
        await writer.append(piece)
        // Its memory is the caller's again.
        piece.fill(0)
      }
    },
    async [Symbol.asyncDispose]() {
      await writer.close()
      await file.close()
    },
  }
}

describe.each(['past the cache', 'through it'])('bytes that are appended %s', (way) => {
  test.each([0, 1, 4_095, 4_096, 2 * MIB - 1, 2 * MIB, 2 * MIB + 4_097])(
    'to a file of %i bytes are in it',
    async (at) => {
      await using directory = await tempDirectory()
      const path = directory.path('x')
      const before = someBytes(at).reverse()
      await writeFile(path, before)
      await using opened = await openWriter(path, { at })
      if (way === 'through it') opened.file.descriptors.direct = null
      const { direct } = opened.file.descriptors
      await opened.appendAll(MORE, 70_000)
      await opened.writer.drain()
      await opened.file.sync()
      expect(sha256(await readFile(path))).toBe(sha256(Buffer.concat([before, MORE])))
      // Nothing went the direct way that could not.
      expect(opened.file.descriptors.direct).toBe(direct)
    },
  )
})

test('appends after a drain in the middle of a block, too', async () => {
  await using directory = await tempDirectory()
  await using opened = await openWriter(directory.path('x'))
  const bytes = someBytes(5 * MIB + 3)
  for (const piece of [bytes.subarray(0, 100), bytes.subarray(100, 4 * MIB + 1), bytes.subarray(4 * MIB + 1)]) {
    await opened.appendAll(piece, 300_000)
    await opened.writer.drain()
    const { size } = await stat(directory.path('x'))
    expect(size).toBe(piece.byteOffset - bytes.byteOffset + piece.byteLength)
  }
  expect(sha256(await readFile(directory.path('x')))).toBe(sha256(bytes))
})

describe('a block', () => {
  /** A file and a hash that take as long as the test wants, and note what they are given. */
  function slowParts() {
    const written: { at: number; first: number | undefined; end: PromiseWithResolvers<void> }[] = []
    const hashed: { bytes: Uint8Array; end: PromiseWithResolvers<void> }[] = []
    const file = {
      write(bytes: Uint8Array, at: number) {
        const end = Promise.withResolvers<void>()
        written.push({ at, first: bytes[0], end })
        return end.promise
      },
    }
    const update = (bytes: Uint8Array) => {
      const end = Promise.withResolvers<void>()
      hashed.push({ bytes, end })
      return end.promise
    }
    const clock = new ManualClock()
    const writer = new BlockWriter(file, { hash: { update, reach: () => {} }, at: 0, clock })
    return { written, hashed, clock, writer }
  }

  const BLOCKS = Array.from({ length: 5 }, (_, index) => Buffer.alloc(2 * MIB, index + 1))

  test('is not filled again before it is both written and hashed', async () => {
    const { written, hashed, writer } = slowParts()
    for (const block of BLOCKS.slice(0, 4)) await writer.append(block)
    let isTaken = false
    const fifth = writer.append(BLOCKS[4] as Buffer).then(() => {
      isTaken = true
    })
    for (let index = 0; index < 4; index++) {
      written[index]?.end.resolve()
      await turn()
    }
    expect([isTaken, hashed.map(({ bytes }) => bytes[0])]).toEqual([false, [1, 2, 3, 4]])
    hashed[2]?.end.resolve()
    await fifth
    expect(hashed.map(({ bytes }) => bytes[0])).toEqual([1, 2, 5, 4, 5])
  })

  test('is written within a second, however little of it has come', async () => {
    const { written, hashed, clock, writer } = slowParts()
    await writer.append(Buffer.from('first'))
    clock.set(clock.now() + 999)
    await writer.append(Buffer.from(' words'))
    await turn()
    expect(written).toEqual([])
    clock.set(clock.now() + 1)
    await turn()
    expect(hashed.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(['first words'])
    await writer.append(Buffer.from('more'))
    written[0]?.end.resolve()
    clock.set(clock.now() + 1_000)
    await turn()
    expect(written.map(({ at }) => at)).toEqual([0, 11])
    // A full one is written at once, and nothing is left to be written later.
    await writer.append(Buffer.alloc(2 * MIB - 15))
    written[1]?.end.resolve()
    clock.set(clock.now() + 1_000)
    await turn()
    expect(written.map(({ at }) => at)).toEqual([0, 11, 15])
  })

  test('is not written any more once the writer is closed', async () => {
    const { written, clock, writer } = slowParts()
    await writer.append(Buffer.from('of a file that has changed'))
    await writer.close()
    clock.set(clock.now() + 1_000)
    await turn()
    expect(written).toEqual([])
  })

  test('is written after the one before, and never after one that failed', async () => {
    const { written, hashed, writer } = slowParts()
    for (const block of BLOCKS.slice(0, 3)) await writer.append(block)
    await turn()
    expect(written.map(({ at }) => at)).toEqual([0])
    written[0]?.end.resolve()
    await turn()
    expect(written.map(({ at }) => at)).toEqual([0, 2 * MIB])
    written[1]?.end.reject(new Error('the disk is on fire'))
    for (const { end } of hashed) end.resolve()
    expect(await errorOf(writer.drain())).toMatchObject({ message: 'the disk is on fire' })
    expect(written).toHaveLength(2)
    expect(await errorOf(writer.append(BLOCKS[3] as Buffer))).toMatchObject({ message: 'the disk is on fire' })
  })
})

test.skipIf(process.platform !== 'linux')('a way past the cache that opens but does not work is left', async () => {
  await using directory = await tempDirectory()
  await using opened = await openWriter(directory.path('x'))
  // It takes a number, and answers anything else as a file system does that has no direct access.
  await using refusing = await open('/proc/self/oom_score_adj', 'r+')
  opened.file.descriptors.direct = refusing.fd
  const bytes = Buffer.alloc(2 * MIB, 'x')
  await opened.appendAll(bytes)
  await opened.writer.drain()
  expect(await readFile(directory.path('x'))).toEqual(bytes)
  expect(opened.file.descriptors.direct).toBeNull()
})

describe.skipIf(process.platform !== 'linux')('a full disk', () => {
  test.each([
    ['the next write', 9 * MIB],
    ['the drain', 1],
  ])('shows at %s', async (_name, size) => {
    await using directory = await tempDirectory()
    await symlink('/dev/full', directory.path('x'))
    await using opened = await openWriter(directory.path('x'))
    expect(opened.file.descriptors.direct).toBeNull()
    const appendAndDrain = async () => {
      await opened.appendAll(Buffer.alloc(size), MIB)
      await opened.writer.drain()
    }
    expect(await errorOf(appendAndDrain())).toMatchObject({ code: 'ENOSPC' })
  })
})

test('a disk that refuses fails the download with its own words, and ends the connection', async () => {
  await using api = await ScriptedServer.start()
  await using host = await ScriptedServer.start()
  await using directory = await tempDirectory()
  giveUrls(api, host)
  host.otherwise(serveBytes(someBytes(1_000)))
  await writeFile(directory.path('file'), '')
  const { files } = testClient({ baseUrl: api.baseUrl })
  const error = await errorOf(files.download({ service: 'storage_a', id: 'a' }, { to: directory.path('file/below') }))
  expect(error).toMatchObject({ code: expect.stringMatching(/EEXIST|ENOTDIR/) })
})

test('a file that is synced on the way arrives unharmed', async () => {
  await using api = await ScriptedServer.start()
  await using host = await ScriptedServer.start()
  await using directory = await tempDirectory()
  giveUrls(api, host)
  const bytes = someBytes(66 * MIB)
  host.otherwise(serveBytes(bytes))
  const { files } = testClient({ baseUrl: api.baseUrl })
  const done = await files.download({ service: 'storage_a', id: 'a', size: bytes.length }, { to: directory.path('x') })
  expect(done.sha256).toBe(sha256(bytes))
  expect(sha256(await readFile(done.path))).toBe(done.sha256)
})
