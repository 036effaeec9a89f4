import { expect } from 'vitest'
import { parseReply } from '../../../src/files/reply/parse-reply.ts'
import { entry, REF } from '../support/entries.ts'
import { json, ScriptedServer, test } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

async function get(body: Record<string, unknown>) {
  await using server = await ScriptedServer.start()
  server.otherwise(json(200, body))
  const { files } = testClient({ baseUrl: server.baseUrl, retry: { attempts: 1 } })
  return await files.get(REF).catch((error: unknown) => error)
}

test.each([
  [{ success: false }],
  [{ success: 'false' }],
  [{ success: 0 }],
  [{ success: null }],
  [{ status: 'error' }],
  [{ status: 'failed' }],
  [{ status: 'partial' }],
  [{ success: true, status: 'error' }],
  [{ success: true, error: { code: 'service_error' } }],
])('a reply 200 with %j and data is a failure', async (flags) => {
  expect(await get({ ...flags, data: entry('a') })).toMatchObject({
    status: 200,
    name: expect.stringMatching(/Error$/),
  })
})

test.each([[{ success: true }], [{ success: 'true' }], [{ status: 'success' }], [{ status: 'OK' }], [{ status: 200 }]])(
  'a reply 200 with %j and data is a success',
  async (flags) => {
    expect(await get({ ...flags, data: entry('a') })).toMatchObject({ id: 'a' })
  },
)

test('an entry whose id is a number is described by its text, and one beyond 2^53 is refused', async ({ server }) => {
  server.script(json(200, { success: true, data: entry('a', { id: 7 }) }))
  server.otherwise(json(200, { success: true, data: entry('a', { id: 2 ** 53 }) }))
  const { files } = testClient({ baseUrl: server.baseUrl })
  expect(await files.get({ service: 'storage_a', id: '7' })).toMatchObject({ id: '7' })
  expect(await errorOf(files.get({ service: 'storage_a', id: String(2 ** 53) }))).toMatchObject({
    name: 'ProtocolError',
    message: /2\^53/,
  })
})

test.each([
  '{"success":true,"data":{"id":"a","id":"b"}}',
  '{"success":true,"success":false,"data":[]}',
  '{"success":true,"data":[{"id":"a","\\u0069d":"b"}]}',
])('a reply with the same key twice is not read: %s', (text) => {
  expect(parseReply(200, text)).toEqual({ kind: 'unreadable' })
})

test('a reply whose path is broken UTF-8 is refused, not read with another path', async ({ server }) => {
  const body = Buffer.from(JSON.stringify({ success: true, data: entry('a', { path: '/in/\u00e9.txt' }) }))
  body[body.indexOf(0xc3) + 1] = 0x20
  server.otherwise((response) => response.writeHead(200, { 'content-type': 'application/json' }).end(body))
  const { files } = testClient({ baseUrl: server.baseUrl })
  expect(await errorOf(files.get(REF))).toMatchObject({ name: 'ProtocolError', message: /UTF-8/ })
})
