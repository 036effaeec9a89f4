import { open, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/core/time.ts'
import { PartFile } from '../../../src/files/disk/part-file.ts'
import { KeptHashes } from '../../../src/files/disk/part-hash.ts'
import { emptyHash } from '../../../src/files/disk/threaded-hash.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { sha256 } from '../support/download-host.ts'
import { BEGINNING, LARGE_FILE, NEVER } from '../support/large-part.ts'

const VERSION = { host: 'host', etag: '"v1"', modified: null, type: null, condition: '"v1"' }

/** A part that this process has left, and the request that continues it. */
async function leave(bytes: Buffer) {
  const to = join(tempFolder(), 'file')
  const kept = new KeptHashes()
  const request = { to, wanted: { ...LARGE_FILE }, resume: true, kept, clock: systemClock, signal: NEVER }
  const part = await PartFile.open(request)
  await part.expectFrom(0, VERSION)
  await part.append(bytes)
  await part.leave()
  return { request, path: `${to}.part` }
}

async function finish(request: Parameters<typeof PartFile.open>[0], rest: Buffer): Promise<string> {
  const part = await PartFile.open(request)
  await part.expectFrom(part.bytes, VERSION)
  await part.append(rest)
  return (await part.finish()).sha256
}

test('the hash of a part is continued by the process that left it, and by no other', async () => {
  const left = await leave(BEGINNING)
  const handle = await open(left.path)
  const claimed = emptyHash(null)
  await claimed.update(Buffer.from('as if this was in it'))
  await left.request.kept.keep(left.request.to, claimed, handle)
  await handle.close()
  expect(await finish(left.request, Buffer.from('!'))).toBe(sha256(Buffer.from('as if this was in it!')))
  const other = await leave(BEGINNING)
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
])('the hash of a part that %s is dropped', async (_what, touch, content) => {
  const left = await leave(BEGINNING)
  await touch(left.path)
  expect(await finish(left.request, Buffer.from('!'))).toBe(
    sha256(Buffer.concat([Buffer.from(content), Buffer.from('!')])),
  )
})

test('no hash is kept of bytes that the disk did not take', async ({ skip }) => {
  const disk = mountSmallDisk(1)
  if (disk === null) return skip('only root may mount a disk')
  const to = join(disk, 'file')
  await expect(writeFile(join(disk, 'filler'), Buffer.alloc(1 << 21))).rejects.toThrow('ENOSPC')
  const kept = new KeptHashes()
  const request = { to, wanted: { ...LARGE_FILE }, resume: true, kept, clock: systemClock, signal: NEVER }
  const part = await PartFile.open(request)
  await part.append(Buffer.from('lost'))
  await part.leave()
  const handle = await open(`${to}.part`)
  expect(await kept.take(to, handle)).toBeNull()
  await handle.close()
})

test('no hash is kept of a part to which another process has written more', async () => {
  const to = join(tempFolder(), 'file')
  const kept = new KeptHashes()
  const request = { to, wanted: { ...LARGE_FILE }, resume: true, kept, clock: systemClock, signal: NEVER }
  const part = await PartFile.open(request)
  await part.expectFrom(0, VERSION)
  await part.append(Buffer.from('bytes'))
  await writeFile(`${to}.part`, 'bytes and more')
  await part.leave()
  const handle = await open(`${to}.part`)
  expect(await kept.take(to, handle)).toBeNull()
  await handle.close()
})

test('the oldest of more than a thousand kept hashes is dropped', async () => {
  const folder = tempFolder()
  const handle = await open(join(folder, 'file'), 'w')
  const kept = new KeptHashes()
  for (let n = 0; n <= 1_000; n++) await kept.keep(`/part/${n}`, emptyHash(0), handle)
  expect(await kept.take('/part/0', handle)).toBeNull()
  expect(await kept.take('/part/1', handle)).not.toBeNull()
  expect(await kept.take('/part/1', handle)).toBeNull()
  await handle.close()
})
