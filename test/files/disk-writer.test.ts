import { open, readFile, writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { DiskWriter } from '../../src/files/disk-writer.ts'
import { giveUrls, serveBytes, sha256, someBytes, tempDirectory } from './download-host.ts'
import { ScriptedServer } from './scripted-server.ts'
import { errorOf, testClient } from './test-client.ts'

const MIB = 1024 * 1024

test('writes what it was given, in order, and has it on the disk after a sync', async () => {
  await using directory = await tempDirectory()
  const bytes = someBytes(3 * MIB + 17)
  const handle = await open(directory.path('x'), 'a+')
  const writer = new DiskWriter(handle)
  for (let at = 0; at < bytes.length; at += 50_000) await writer.write(bytes.subarray(at, at + 50_000))
  await writer.sync()
  await handle.close()
  expect(sha256(await readFile(directory.path('x')))).toBe(sha256(bytes))
})

describe.skipIf(process.platform !== 'linux')('a full disk', () => {
  test.each([
    ['the next write', MIB],
    ['the sync', 1],
  ])('shows at %s', async (_name, size) => {
    const handle = await open('/dev/full', 'a')
    const writer = new DiskWriter(handle)
    const writeAll = async () => {
      for (let count = 0; count < 10; count++) await writer.write(Buffer.alloc(size))
      await writer.sync()
    }
    expect(await errorOf(writeAll())).toMatchObject({ code: 'ENOSPC' })
    await handle.close()
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
