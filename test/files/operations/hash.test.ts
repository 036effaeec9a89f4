import { expect, test } from 'vitest'
import { startDownloads } from '../support/download-bench.ts'
import { serveBytes, sha256, someBytes } from '../support/download-host.ts'
import { REF } from '../support/entries.ts'
import { failure } from '../support/scripted-server.ts'
import { errorOf } from '../support/test-client.ts'

const CONTENT = someBytes(700_000)
const HASH = { sha256: sha256(CONTENT), bytes: CONTENT.length, proof: 'size' }

test('hash() by an id alone looks the size up first', async () => {
  await using bench = await startDownloads({ details: () => ({ size: CONTENT.length }) })
  bench.host.script(serveBytes(CONTENT))
  expect(await bench.files.hash(REF)).toEqual(HASH)
  expect(bench.api.seen.map(({ path }) => path)).toEqual(['/v1/files/a', '/v1/files/a/download'])
})

test('hash() says that nothing proves the bytes of a file without a size', async () => {
  await using bench = await startDownloads({ details: () => ({ size: null }) })
  bench.host.script(serveBytes(CONTENT))
  expect(await bench.files.hash(REF)).toEqual({ ...HASH, proof: 'none' })
})

test('hash() looks again where the file changes between the look and its bytes', async () => {
  let size = 5
  await using bench = await startDownloads({ details: () => ({ size }) })
  bench.host.script((response, request) => {
    size = CONTENT.length
    serveBytes(CONTENT)(response, request)
  }, serveBytes(CONTENT))
  expect(await bench.files.hash(REF)).toEqual(HASH)
})

test('hash() is null for a missing file, and an error for a refused one', async () => {
  await using bench = await startDownloads()
  bench.api.script(failure(404, 'resource_not_found'), failure(403, 'permission_denied'))
  expect(await bench.files.hash(REF)).toBe(null)
  expect(await errorOf(bench.files.hash(REF))).toMatchObject({ name: 'PermissionError', operation: 'hash' })
})
