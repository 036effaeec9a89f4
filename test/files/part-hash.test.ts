import { appendFile, open, stat, truncate, writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { continuedHash, emptyHash } from '../../src/files/part-hash.ts'
import { giveUrls, serveBytes, sha256, someBytes, tempDirectory } from './download-host.ts'
import { failure, ScriptedServer } from './scripted-server.ts'
import { errorOf, testClient } from './test-client.ts'

const MIB = 1024 * 1024
/** Large enough for a thread. */
const BEGINNING = someBytes(9 * MIB)
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

test.each([0, 1, 5 * MIB, 9 * MIB])('a file with %i bytes is hashed with what is appended', async (size) => {
  await using directory = await tempDirectory()
  const path = directory.path('file')
  await writeFile(path, BEGINNING.subarray(0, size))
  const handle = await open(path, 'a+')
  const hash = size === 0 ? emptyHash() : await continuedHash(handle, size)
  const more = someBytes(5 * MIB + 3)
  hash.update(more)
  await appendFile(path, more)
  hash.reach(size + more.length)
  expect(await hash.digest(size + more.length)).toBe(sha256(Buffer.concat([BEGINNING.subarray(0, size), more])))
  await hash.stop()
  await handle.close()
})

test('a file that somebody cut meanwhile fails its hash', async () => {
  await using directory = await tempDirectory()
  const path = directory.path('file')
  await writeFile(path, BEGINNING)
  const handle = await open(path, 'a+')
  const hash = await continuedHash(handle, BEGINNING.length)
  await truncate(path, MIB)
  expect(await errorOf(hash.digest(BEGINNING.length + MIB))).toMatchObject({
    message: expect.stringContaining('the part has'),
  })
  await hash.stop()
  await handle.close()
})
