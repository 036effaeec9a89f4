import { open, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../support/temp-folder.ts'
import { startDownloads } from '../support/download-bench.ts'
import { serveBytes, sha256, someBytes } from '../support/download-host.ts'
import { REF } from '../support/entries.ts'
import { MIB } from '../support/large-part.ts'
import { openWriter } from '../support/open-writer.ts'
import { errorOf } from '../support/test-client.ts'

test.skipIf(process.platform !== 'linux')('direct access that opens but does not work is given up', async () => {
  const folder = tempFolder()
  await using opened = await openWriter(join(folder, 'x'))
  // It takes a number, and answers anything else as a file system does that has no direct access.
  await using refusing = await open('/proc/self/oom_score_adj', 'r+')
  opened.file.descriptors.direct = refusing.fd
  const bytes = Buffer.alloc(2 * MIB, 'x')
  await opened.appendAll(bytes)
  await opened.writer.drain()
  expect(await readFile(join(folder, 'x'))).toEqual(bytes)
  expect(opened.file.descriptors.direct).toBeNull()
})

const onLinux = test.skipIf(process.platform !== 'linux')

onLinux.each([
  ['the next write', 9 * MIB],
  ['the drain', 1],
])('a full disk shows at %s', async (_name, size) => {
  const folder = tempFolder()
  await symlink('/dev/full', join(folder, 'x'))
  await using opened = await openWriter(join(folder, 'x'))
  expect(opened.file.descriptors.direct).toBeNull()
  const appendAndDrain = async () => {
    await opened.appendAll(Buffer.alloc(size), MIB)
    await opened.writer.drain()
  }
  expect(await errorOf(appendAndDrain())).toMatchObject({ code: 'ENOSPC' })
})

test('a file that is synced while it is written arrives whole', async () => {
  await using bench = await startDownloads()
  const bytes = someBytes(66 * MIB)
  bench.host.otherwise(serveBytes(bytes))
  const done = await bench.files.download({ ...REF, size: bytes.length }, { to: bench.path('x') })
  expect(done.sha256).toBe(sha256(bytes))
  expect(sha256(await readFile(done.path))).toBe(done.sha256)
})
