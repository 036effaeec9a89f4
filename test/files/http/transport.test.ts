import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { giveUrls, someBytes } from '../support/download-host.ts'
import { entry } from '../support/entries.ts'
import { ok, ScriptedServer, silence, text } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

const REF = { service: 'storage_a', id: 'a' } as const
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('a server that accepts and never shakes hands is given up as soon as the connection is overdue', async () => {
  const sockets = Promise.withResolvers<void>()
  const server = createServer(() => sockets.resolve())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const { files, clock } = testClient({ baseUrl: `https://127.0.0.1:${port}/v1`, retry: { attempts: 1 } })
  const error = errorOf(files.get(REF))
  await sockets.promise
  clock.advance('5s')
  expect(await error).toMatchObject({ name: 'ConnectionError', message: 'No connection within 5000 ms.' })
  await new Promise((resolve) => server.close(resolve))
})

test('a connection that is there in time may take longer to answer', async () => {
  await using server = await ScriptedServer.start()
  const gate = Promise.withResolvers<void>()
  server.otherwise((response, request) => void gate.promise.then(() => ok(entry('a'))(response, request)))
  const { files, clock } = testClient({ baseUrl: server.baseUrl })
  const details = files.get(REF)
  await server.received(1)
  clock.advance('20s')
  gate.resolve()
  expect(await details).toMatchObject({ id: 'a' })
  expect(server.seen).toHaveLength(1)
})

test('a server that closes an idle connection costs no more than an attempt', async () => {
  await using server = await ScriptedServer.start()
  server.otherwise((response, request) => {
    const id = request.path.split('/').at(-1) ?? ''
    ok(entry(id), {}, { connection: 'keep-alive' })(response, request)
    response.on('close', () => setImmediate(() => response.req.socket.destroy()))
  })
  const { files } = testClient({ baseUrl: server.baseUrl })
  for (const id of ['a', 'b', 'c', 'd']) expect(await files.get({ service: 'storage_a', id })).toMatchObject({ id })
})

test('a server that closes the connection while bytes wait for a slow reader harms nobody', async () => {
  await using api = await ScriptedServer.start()
  await using host = await ScriptedServer.start()
  giveUrls(api, host)
  const content = someBytes(400_000)
  host.otherwise(text(200, '', { connection: 'close' }))
  host.script((response) =>
    response.writeHead(200, { connection: 'close', 'content-length': content.length }).end(content),
  )
  const { files } = testClient({ baseUrl: api.baseUrl })
  const parts: Uint8Array[] = []
  for await (const chunk of files.stream({ ...REF, size: content.length })) {
    parts.push(chunk)
    for (let turns = 0; turns < 50; turns++) await turn()
  }
  expect(Buffer.concat(parts)).toEqual(content)
})

describe('a redirect', () => {
  test('that comes back from another origin brings no key along', async () => {
    await using server = await ScriptedServer.start()
    await using other = await ScriptedServer.start()
    server.script(text(302, '', { location: `${other.origin}/there` })).otherwise(ok(entry('a')))
    other.otherwise(text(302, '', { location: `${server.origin}/v1/chosen-there` }))
    await testClient({ baseUrl: server.baseUrl }).files.get(REF)
    expect(server.seen.map((seen) => seen.headers.authorization !== undefined)).toEqual([true, false])
  })

  test('of a delete is not followed', async () => {
    await using server = await ScriptedServer.start()
    server.otherwise(text(307, '', { location: '/v1/files/b' }))
    const { files } = testClient({ baseUrl: server.baseUrl })
    expect(await errorOf(files.delete(REF))).toMatchObject({ name: 'ProtocolError' })
    expect(server.seen).toHaveLength(1)
  })
})

describe('somebody’s own fetch', () => {
  test('sends the requests', async () => {
    await using server = await ScriptedServer.start()
    server.otherwise(ok(entry('a')))
    const asked: string[] = []
    const own: typeof fetch = (url, init) => {
      asked.push(String(url))
      return fetch(url, init)
    }
    expect(await testClient({ baseUrl: server.baseUrl, fetch: own }).files.get(REF)).toMatchObject({ id: 'a' })
    expect(asked).toHaveLength(1)
  })

  test('is aborted with the call', async () => {
    await using server = await ScriptedServer.start()
    server.otherwise(silence)
    const { files } = testClient({ baseUrl: server.baseUrl, fetch })
    const caller = new AbortController()
    const error = errorOf(files.get(REF, { signal: caller.signal }))
    await server.received(1)
    caller.abort()
    expect(await error).toMatchObject({ name: 'AbortedError' })
  })
})
