import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../src/core/time.ts'
import { BlockWriter } from '../../../src/files/disk/block-writer.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { sha256, someBytes } from '../support/download-host.ts'
import { MIB } from '../support/large-part.ts'
import { openWriter } from '../support/open-writer.ts'
import { errorOf } from '../support/test-client.ts'

/** More than all blocks hold. */
const MORE = someBytes(11 * MIB + 17)
const BLOCKS = Array.from({ length: 5 }, (_, index) => Buffer.alloc(2 * MIB, index + 1))

/** A writer whose file and hash take as long as the test wants, and note what they are given. */
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
  const writer = new BlockWriter(file, { hash: { update }, at: 0, clock })
  return { written, hashed, clock, writer }
}

const SIZES = [0, 1, 4_095, 4_096, 2 * MIB - 1, 2 * MIB, 2 * MIB + 4_097]

test.each(SIZES.flatMap((at) => (['past', 'through'] as const).map((way) => [way, at] as const)))(
  'bytes that are appended %s the cache to a file of %i bytes are in it',
  async (way, at) => {
    const path = join(tempFolder(), 'x')
    const before = someBytes(at).reverse()
    await writeFile(path, before)
    await using opened = await openWriter(path, { at })
    if (way === 'through') opened.file.descriptors.direct = null
    const { direct } = opened.file.descriptors
    await opened.appendAll(MORE, 70_000)
    await opened.writer.drain()
    await opened.file.sync()
    expect(sha256(await readFile(path))).toBe(sha256(Buffer.concat([before, MORE])))
    // No write failed on the direct way.
    expect(opened.file.descriptors.direct).toBe(direct)
  },
)

test('a block is not filled again before it is both written and hashed', async () => {
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

test('a block is written within a second, however few bytes it has', async () => {
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

test('a begun block is not written once the writer is closed', async () => {
  const { written, clock, writer } = slowParts()
  await writer.append(Buffer.from('of a file that has changed'))
  await writer.close()
  clock.set(clock.now() + 1_000)
  await turn()
  expect(written).toEqual([])
})

test('blocks are written in their order, and none after one that failed', async () => {
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
