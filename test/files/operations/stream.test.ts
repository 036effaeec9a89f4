import { expect } from 'vitest'
import { CONTENT, FILE, test } from '../support/download-bench.ts'
import { cutAt, serveBytes, watchProgress } from '../support/download-host.ts'
import { errorOf } from '../support/test-client.ts'

async function collect(chunks: AsyncIterable<Uint8Array>, onProgress: (progress: { bytes: number }) => void) {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    parts.push(chunk)
    bytes += chunk.byteLength
    onProgress({ bytes })
  }
  return Buffer.concat(parts)
}

test('a stream continues where the connection broke', async ({ downloads: bench }) => {
  const { reached, onProgress } = watchProgress()
  bench.host.script(cutAt(CONTENT, 100_000, { seen: reached(100_000) }), serveBytes(CONTENT))
  expect(await collect(bench.files.stream(FILE), onProgress)).toEqual(CONTENT)
})

test('a stream gives each byte once although the server starts again', async ({ downloads: bench }) => {
  const { reached, onProgress } = watchProgress()
  bench.host.script(cutAt(CONTENT, 100_000, { seen: reached(100_000) }), serveBytes(CONTENT, { ranges: false }))
  expect(await collect(bench.files.stream(FILE), onProgress)).toEqual(CONTENT)
})

test('a stream fails when the file changes on the way', async ({ downloads: bench }) => {
  const { reached, onProgress } = watchProgress()
  bench.host.script(cutAt(CONTENT, 100_000, { seen: reached(100_000) }), serveBytes(CONTENT, { etag: '"v2"' }))
  expect(await errorOf(collect(bench.files.stream(FILE), onProgress))).toMatchObject({ name: 'ProtocolError' })
})

test('a stream ends its connection when its reader stops', async ({ downloads: bench }) => {
  const closed = Promise.withResolvers<void>()
  bench.host.script((response) => {
    response.on('close', () => closed.resolve())
    response.writeHead(200, { 'content-length': CONTENT.length }).write(CONTENT.subarray(0, 1_000))
  })
  for await (const chunk of bench.files.stream(FILE)) {
    expect(chunk.byteLength).toBe(1_000)
    break
  }
  await closed.promise
  await bench.files.stop()
})
