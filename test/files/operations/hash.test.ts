import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startDownloads } from '../support/download-bench.ts'
import { cutAt, serveBytes, sha256, someBytes } from '../support/download-host.ts'
import { REF } from '../support/entries.ts'
import { failure } from '../support/scripted-server.ts'
import { errorOf } from '../support/test-client.ts'

const CONTENT = someBytes(700_000)

test('hash() tells length and SHA-256 of the file', async () => {
  await using bench = await startDownloads()
  bench.host.script(serveBytes(CONTENT), serveBytes(Buffer.alloc(0)))
  expect(await bench.files.hash(REF)).toEqual({ sha256: sha256(CONTENT), bytes: CONTENT.length })
  expect(await bench.files.hash(REF)).toEqual({ sha256: sha256(Buffer.alloc(0)), bytes: 0 })
})

test('hash() continues where the connection broke', async () => {
  await using bench = await startDownloads()
  bench.host.script(cutAt(CONTENT, 300_000, { seen: turn() }), serveBytes(CONTENT))
  expect(await bench.files.hash(REF)).toEqual({ sha256: sha256(CONTENT), bytes: CONTENT.length })
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
  expect(await bench.files.hash(REF)).toEqual({ sha256: sha256(now), bytes: now.length })
})

test('hash() is null for a missing file, and an error for a refused one', async () => {
  await using bench = await startDownloads()
  bench.api.script(failure(404, 'resource_not_found'), failure(403, 'permission_denied'))
  expect(await bench.files.hash(REF)).toBe(null)
  expect(await errorOf(bench.files.hash(REF))).toMatchObject({ name: 'PermissionError', operation: 'hash' })
})
