import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'vitest'
import { startDownloads } from '../support/download-bench.ts'
import { someBytes } from '../support/download-host.ts'
import { entry, REF, requestedEntry } from '../support/entries.ts'
import { ok, silence, test, text } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

test('a server that closes an idle connection costs no more than an attempt', async ({ server }) => {
  server.otherwise((response, request) => {
    requestedEntry({ connection: 'keep-alive' })(response, request)
    response.on('close', () => setImmediate(() => response.req.socket.destroy()))
  })
  const { files } = testClient({ baseUrl: server.baseUrl })
  for (const id of ['a', 'b', 'c', 'd']) expect(await files.get({ service: 'storage_a', id })).toMatchObject({ id })
})

test('a server that closes the connection while bytes wait for a slow reader loses none of them', async () => {
  await using bench = await startDownloads()
  const { files, host } = bench
  const content = someBytes(400_000)
  host.otherwise(text(200, '', { connection: 'close' }))
  host.script((response) =>
    response.writeHead(200, { connection: 'close', 'content-length': content.length }).end(content),
  )
  const parts: Uint8Array[] = []
  for await (const chunk of files.stream({ ...REF, size: content.length })) {
    parts.push(chunk)
    for (let turns = 0; turns < 50; turns++) await turn()
  }
  expect(Buffer.concat(parts)).toEqual(content)
})

test('a server that changes the protocol fails the attempt, and does not leave it without an end', async ({
  server,
}) => {
  server.otherwise((response) => {
    response.req.socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n')
  })
  const { files } = testClient({ baseUrl: server.baseUrl })
  expect(await errorOf(files.get(REF, { retry: { attempts: 1 } }))).toMatchObject({ name: 'ConnectionError' })
})

test('a given fetch sends the requests', async ({ server }) => {
  server.otherwise(ok(entry('a')))
  const asked: string[] = []
  const own: typeof fetch = (url, init) => {
    asked.push(String(url))
    return fetch(url, init)
  }
  expect(await testClient({ baseUrl: server.baseUrl, fetch: own }).files.get(REF)).toMatchObject({ id: 'a' })
  expect(asked).toHaveLength(1)
})

test('a given fetch is aborted with its call', async ({ server }) => {
  server.otherwise(silence)
  const { files } = testClient({ baseUrl: server.baseUrl, fetch })
  const caller = new AbortController()
  const error = errorOf(files.get(REF, { signal: caller.signal }))
  await server.received(1)
  caller.abort()
  expect(await error).toMatchObject({ name: 'AbortedError' })
})
