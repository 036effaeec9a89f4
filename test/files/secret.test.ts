import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { describeError } from '../../src/core/errors.ts'
import { AuthenticationError, Secret } from '../../src/files/index.ts'
import { REF } from './support/entries.ts'
import { json, type Reply, ScriptedServer, text } from './support/scripted-server.ts'
import { errorOf, KEY, testClient } from './support/test-client.ts'

async function errorAfter(reply: Reply): Promise<unknown> {
  await using server = await ScriptedServer.start()
  server.otherwise(reply)
  return await errorOf(testClient({ baseUrl: server.baseUrl, retry: { attempts: 1 } }).files.get(REF))
}

/** Every text that could print an error. */
function printsOf(error: unknown): string {
  const own =
    error instanceof Error
      ? JSON.stringify(Object.getOwnPropertyNames(error).map((name) => [name, Reflect.get(error, name)]))
      : ''
  return [
    inspect(error, { depth: 20, showHidden: true }),
    JSON.stringify(error),
    own,
    JSON.stringify(describeError(error)),
  ].join('\n')
}

test('a secret prints its last four characters only', () => {
  const secret = new Secret(KEY)
  expect([String(secret), JSON.stringify({ secret }), inspect(secret)]).toEqual([
    '…WXYZ',
    '{"secret":"…WXYZ"}',
    'Secret(…WXYZ)',
  ])
  expect(secret.reveal()).toBe(KEY)
})

test('a short secret prints none of its characters', () => {
  expect(String(new Secret('hunter2'))).toBe('…')
})

test('the key is in no error although the server echoes it in message and details', async () => {
  const echo = {
    success: false,
    error: { code: `no ${KEY}`, message: `key ${KEY} is bad`, details: { [KEY]: [KEY] } },
  }
  expect(printsOf(await errorAfter(json(400, echo)))).not.toContain(KEY)
})

test('the query of a URL that the server quotes is in no error', async () => {
  const url = 'https://dl.example.com/x?signature=hush-hush'
  const echo = { success: false, error: { code: 'invalid_request', message: `bad ${url}`, details: { at: [url] } } }
  expect(printsOf(await errorAfter(json(400, echo)))).not.toContain('hush')
})

test('the key is in no error of a failed connection, nor in its causes', async () => {
  const server = await ScriptedServer.start()
  const { baseUrl } = server
  await server[Symbol.asyncDispose]()
  const { files, lines } = testClient({ baseUrl, retry: { attempts: 1 } })
  const error = await errorOf(files.get(REF))
  expect(error).toMatchObject({
    name: 'ConnectionError',
    cause: { message: expect.stringContaining('ECONNREFUSED') },
  })
  expect(printsOf(error) + JSON.stringify(lines)).not.toContain(KEY)
})

test('a key that no header can carry is in no error', async () => {
  const bad = `${KEY}\nX-Evil: 1`
  const error = await errorOf(testClient({ baseUrl: 'https://example.invalid/v1', apiKey: bad }).files.get(REF))
  expect(error).toBeInstanceOf(AuthenticationError)
  expect(printsOf(error)).not.toContain(KEY)
})

test('a key that its provider throws is in no error', async () => {
  const apiKey = () => Promise.reject(new Error(`cannot decrypt ${KEY}`))
  const error = await errorOf(testClient({ baseUrl: 'https://example.invalid/v1', apiKey }).files.get(REF))
  expect(error).toBeInstanceOf(AuthenticationError)
  expect(printsOf(error)).not.toContain(KEY)
})

test('a download URL is in no error and no log line', async () => {
  await using server = await ScriptedServer.start()
  const downloadUrl = `${server.origin}/bytes?signature=hush-hush`
  server.script(
    json(200, { success: true, data: { downloadUrl } }),
    text(500, `see ${downloadUrl}`),
    text(400, downloadUrl),
  )
  const { files, lines } = testClient({ baseUrl: server.baseUrl })
  const chunks = files.stream({ ...REF, size: 5 })
  const error = await errorOf(chunks.next())
  expect(error).toMatchObject({ name: 'InvalidRequestError' })
  expect(printsOf(error) + JSON.stringify(lines)).not.toContain('hush')
})
