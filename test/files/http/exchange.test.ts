import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { expect } from 'vitest'
import { giveUrls } from '../support/download-host.ts'
import { entry, REF } from '../support/entries.ts'
import { ok, ScriptedServer, test, text } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

test('a server that accepts and never shakes hands fails when the connection is overdue', async () => {
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

test('a connection that is there in time may take longer to answer', async ({ server }) => {
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

test('a redirect to the same origin keeps the key, and one to another origin drops it', async ({ server }) => {
  await using other = await ScriptedServer.start()
  other.otherwise(ok(entry('a')))
  server.script(text(307, '', { location: '/v1/moved' }), text(302, '', { location: `${other.origin}/elsewhere` }))
  await testClient({ baseUrl: server.baseUrl }).files.get(REF)
  expect(server.seen[1]?.headers.authorization).toMatch(/^Bearer /)
  expect(other.seen[0]?.headers.authorization).toBeUndefined()
})

test('a redirect that comes back from another origin carries no key', async ({ server }) => {
  await using other = await ScriptedServer.start()
  server.script(text(302, '', { location: `${other.origin}/there` })).otherwise(ok(entry('a')))
  other.otherwise(text(302, '', { location: `${server.origin}/v1/chosen-there` }))
  await testClient({ baseUrl: server.baseUrl }).files.get(REF)
  expect(server.seen.map((seen) => seen.headers.authorization !== undefined)).toEqual([true, false])
})

test.each([
  ['goes on and on', '/v1/again'],
  ['leads to plain http elsewhere', 'http://example.invalid/x'],
])('a redirect that %s is not followed', async (_name, location) => {
  await using server = await ScriptedServer.start()
  server.otherwise(text(302, '', { location }))
  const error = await errorOf(testClient({ baseUrl: server.baseUrl }).files.get(REF))
  expect(error).toMatchObject({ name: 'ProtocolError' })
  expect(server.seen.length).toBeLessThanOrEqual(6)
})

test('a service elsewhere leads to no address of this machine, unless its owner names that', async ({ server }) => {
  const { origin, host } = new URL(server.baseUrl)
  giveUrls(server, server).script(text(302, '', { location: `${origin}/bytes/0` }))
  const elsewhere = (downloadHosts?: string[]) =>
    testClient({
      baseUrl: 'https://api.example.com/v1',
      apiKey: 'sk_live_0123456789abcdefWXYZ',
      fetch: (url, init) => fetch(String(url).replace('https://api.example.com', origin), init),
      ...(downloadHosts && { downloadHosts }),
    }).files
  const refused = { name: 'ProtocolError', message: 'The server points to an address of this machine.' }
  expect(await errorOf(elsewhere().get(REF))).toMatchObject(refused)
  expect(await errorOf(Array.fromAsync(elsewhere().stream(REF)))).toMatchObject(refused)
  expect(server.seen.filter(({ path }) => path.startsWith('/bytes/'))).toEqual([])
  const reached = { message: expect.stringContaining('in place of the file') }
  expect(await errorOf(Array.fromAsync(elsewhere([host]).stream(REF)))).toMatchObject(reached)
})

test('a redirect of a delete is not followed', async ({ server }) => {
  server.script(ok(entry('a'))).otherwise(text(307, '', { location: '/v1/files/b' }))
  const { files } = testClient({ baseUrl: server.baseUrl })
  expect(await errorOf(files.delete(REF))).toMatchObject({ name: 'ProtocolError' })
  expect(server.seen.filter(({ method }) => method !== 'GET').map(({ path }) => path)).toEqual(['/v1/files/a'])
})
