import { execFile } from 'node:child_process'
import { copyFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { continuedHash, emptyHash } from '../../../src/files/disk/threaded-hash.ts'
import { UncachedFile } from '../../../src/files/disk/uncached-file.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { sha256 } from '../support/download-host.ts'
import { BEGINNING, LARGE_FILE, MIB, NEVER, startLargePart, WHOLE } from '../support/large-part.ts'
import { errorOf } from '../support/test-client.ts'

const SCRIPT = fileURLToPath(new URL('../support/download-process.ts', import.meta.url))

async function openPart() {
  const path = join(tempFolder(), 'file')
  await writeFile(path, BEGINNING)
  const file = await UncachedFile.open(path)
  return { path, file, [Symbol.asyncDispose]: () => file.close() }
}

test.each(['before', 'while'])('a caller that aborts %s the thread reads is not kept waiting', async (moment) => {
  await using part = await openPart()
  const caller = new AbortController()
  if (moment === 'before') caller.abort('enough')
  const begun = continuedHash(part.file, { bytes: BEGINNING.length, size: null, signal: caller.signal })
  caller.abort('enough')
  expect(await errorOf(begun)).toBe('enough')
})

test('a hash fails when its file was cut', async () => {
  await using part = await openPart()
  await truncate(part.path, MIB)
  const hash = await continuedHash(part.file, { bytes: BEGINNING.length, size: null, signal: NEVER })
  expect(await errorOf(hash.digest())).toMatchObject({
    message: expect.stringContaining('the part has'),
  })
})

test('a hash that has ended refuses further bytes', async () => {
  const hash = emptyHash(null)
  await hash.end()
  expect(await errorOf(hash.update(Buffer.from('more')))).toMatchObject({
    message: expect.stringContaining('has ended'),
  })
})

test('the thread keeps a script alive until the hash is there, and no longer', async () => {
  await using bench = await startLargePart()
  const paths = [`${bench.to}-1`, `${bench.to}-2`]
  for (const path of paths) {
    // Only the hash is left to do.
    await writeFile(`${path}.part`, WHOLE)
    await copyFile(`${bench.to}.part.json`, `${path}.part.json`)
  }
  const run = promisify(execFile)(process.execPath, [SCRIPT, bench.api.baseUrl, JSON.stringify(LARGE_FILE), ...paths])
  expect((await run).stdout).toBe(`${sha256(WHOLE)} ${sha256(WHOLE)} `)
  expect(bench.host.seen).toEqual([])
})
