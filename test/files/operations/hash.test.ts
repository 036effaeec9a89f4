import { expect, test } from 'vitest'
import { cutAt, giveUrls, serveBytes, sha256, someBytes } from '../support/download-host.ts'
import { failure, ScriptedServer } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

const REF = { service: 'storage_a', id: 'a' } as const
const CONTENT = someBytes(700_000)

async function start() {
  const api = await ScriptedServer.start()
  const host = await ScriptedServer.start()
  giveUrls(api, host)
  return {
    api,
    host,
    ...testClient({ baseUrl: api.baseUrl }),
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]()
      await api[Symbol.asyncDispose]()
    },
  }
}

test('tells length and hash of what the file holds', async () => {
  await using rig = await start()
  rig.host.script(serveBytes(CONTENT), serveBytes(Buffer.alloc(0)))
  expect(await rig.files.hash(REF)).toEqual({ sha256: sha256(CONTENT), bytes: CONTENT.length })
  expect(await rig.files.hash(REF)).toEqual({ sha256: sha256(Buffer.alloc(0)), bytes: 0 })
})

test('goes on where the connection broke', async () => {
  await using rig = await start()
  rig.host.script(
    cutAt(CONTENT, 300_000, { seen: new Promise((resolve) => setImmediate(resolve)) }),
    serveBytes(CONTENT),
  )
  expect(await rig.files.hash(REF)).toEqual({ sha256: sha256(CONTENT), bytes: CONTENT.length })
})

test('begins anew where the file changed on the way', async () => {
  await using rig = await start()
  const changed = someBytes(500_000).reverse()
  const size = CONTENT.length
  rig.host.script(
    (response) => {
      response.writeHead(200, { etag: '"v1"', 'content-length': size })
      response.write(CONTENT.subarray(0, 100_000), () => response.destroy())
    },
    serveBytes(Buffer.concat([changed, CONTENT.subarray(0, 200_000)]), { etag: '"v2"' }),
  )
  const now = Buffer.concat([changed, CONTENT.subarray(0, 200_000)])
  expect(await rig.files.hash(REF)).toEqual({ sha256: sha256(now), bytes: now.length })
})

test('is null for a file that the service says is gone, and an error for one that it does not give', async () => {
  await using rig = await start()
  rig.api.script(failure(404, 'resource_not_found'), failure(403, 'permission_denied'))
  expect(await rig.files.hash(REF)).toBe(null)
  expect(await errorOf(rig.files.hash(REF))).toMatchObject({ name: 'PermissionError', operation: 'hash' })
})
