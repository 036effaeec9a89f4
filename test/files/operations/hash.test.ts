import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startDownloads } from '../support/download-bench.ts'
import { cutAt, serveBytes, sha256, someBytes } from '../support/download-host.ts'
import { REF } from '../support/entries.ts'
import { failure } from '../support/scripted-server.ts'
import { errorOf } from '../support/test-client.ts'

const CONTENT = someBytes(700_000)
const FILE = { ...REF, size: CONTENT.length, modifiedAt: '2026-01-02T00:00:00.000Z' }
const HASH = { sha256: sha256(CONTENT), bytes: CONTENT.length, proof: 'size' }

test('hash() tells length and SHA-256 of the file', async () => {
  await using bench = await startDownloads()
  bench.host.script(serveBytes(CONTENT), serveBytes(Buffer.alloc(0)))
  expect(await bench.files.hash(FILE)).toEqual(HASH)
  expect(await bench.files.hash({ ...REF, size: 0 })).toEqual({
    sha256: sha256(Buffer.alloc(0)),
    bytes: 0,
    proof: 'size',
  })
})

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

test('hash() continues where the connection broke', async () => {
  await using bench = await startDownloads()
  bench.host.script(cutAt(CONTENT, 300_000, { seen: turn() }), serveBytes(CONTENT))
  expect(await bench.files.hash(FILE)).toEqual(HASH)
})

test('hash() starts again when the file has changed on the way', async () => {
  await using bench = await startDownloads()
  const changed = someBytes(500_000).reverse()
  const size = CONTENT.length
  bench.host.script(
    (response) => {
      response.writeHead(200, { etag: '"v1"', 'content-length': size })
      response.write(CONTENT.subarray(0, 100_000), () => response.destroy())
    },
    serveBytes(Buffer.concat([changed, CONTENT.subarray(0, 200_000)]), { etag: '"v2"' }),
  )
  const now = Buffer.concat([changed, CONTENT.subarray(0, 200_000)])
  expect(await bench.files.hash(FILE)).toMatchObject({ sha256: sha256(now), bytes: now.length })
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
