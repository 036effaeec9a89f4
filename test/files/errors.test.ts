import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { describeError } from '../../src/core/errors.ts'
import {
  AuthenticationError,
  createFilesClient,
  FilesError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  Secret,
  ServerError,
  UpstreamError,
} from '../../src/files/index.ts'
import { failure, json, type Reply, ScriptedServer, text } from './support/scripted-server.ts'
import { errorOf, KEY, testClient } from './support/test-client.ts'

const REF = { service: 'storage_a', id: 'a' } as const

async function errorAfter(reply: Reply): Promise<unknown> {
  await using server = await ScriptedServer.start()
  server.otherwise(reply)
  return await errorOf(testClient({ baseUrl: server.baseUrl, retry: { attempts: 1 } }).files.get(REF))
}

describe('the class of an error follows the code, then the status', () => {
  test.each<[number, string, typeof FilesError]>([
    [401, 'authentication_error', AuthenticationError],
    [403, 'permission_denied', PermissionError],
    [400, 'invalid_request', InvalidRequestError],
    [400, 'invalid_parameter', InvalidRequestError],
    [400, 'something_new', InvalidRequestError],
    [404, 'resource_not_found', NotFoundError],
    [400, 'resource_not_found', NotFoundError],
    [502, 'service_error', UpstreamError],
    [500, 'service_error', UpstreamError],
    [500, 'resource_not_found', ServerError],
    [418, 'teapot', InvalidRequestError],
    [200, 'something_new', ServerError],
  ])('%d %s', async (status, code, expected) => {
    const error = await errorAfter(failure(status, code))
    expect(error).toBeInstanceOf(expected)
    expect(error).toBeInstanceOf(FilesError)
    expect(error).toMatchObject({ status, code, operation: 'get', service: 'storage_a', details: { hint: 1 } })
  })

  test('details may be text', async () => {
    const error = await errorAfter(
      json(400, { status: 'error', error: { code: 'invalid_parameter', details: 'bad path' } }),
    )
    expect(error).toMatchObject({
      details: 'bad path',
      message: 'The service answered 400 invalid_parameter: bad path',
    })
  })

  test('a page that is no JSON leaves the status', async () => {
    const error = await errorAfter(text(403, '<html>no</html>', { 'x-request-id': 'r-17' }))
    expect(error).toMatchObject({
      name: 'PermissionError',
      code: null,
      requestId: 'r-17',
      message: 'The service answered 403.',
    })
  })
})

/** Everything that could print an error. */
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

describe('the key shows nowhere', () => {
  test('when the server echoes it in message and details', async () => {
    const echo = {
      success: false,
      error: { code: `no ${KEY}`, message: `key ${KEY} is bad`, details: { [KEY]: [KEY] } },
    }
    expect(printsOf(await errorAfter(json(400, echo)))).not.toContain(KEY)
  })

  test('and neither does the query of a URL that the server quotes', async () => {
    const url = 'https://dl.example.com/x?signature=hush-hush'
    const echo = { success: false, error: { code: 'invalid_request', message: `bad ${url}`, details: { at: [url] } } }
    expect(printsOf(await errorAfter(json(400, echo)))).not.toContain('hush')
  })

  test('when the connection fails, in the whole chain of causes', async () => {
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

  test('when a fetch of someone else’s quotes the request', async () => {
    const fetch = (_url: unknown, init: unknown) => Promise.reject(new Error(`failed: ${JSON.stringify(init)}`))
    const { files, lines } = testClient({ baseUrl: 'https://example.invalid/v1', fetch, retry: { attempts: 1 } })
    expect(printsOf(await errorOf(files.get(REF))) + JSON.stringify(lines)).not.toContain(KEY)
  })

  test('when it could be no header', async () => {
    const bad = `${KEY}\nX-Evil: 1`
    const error = await errorOf(testClient({ baseUrl: 'https://example.invalid/v1', apiKey: bad }).files.get(REF))
    expect(error).toBeInstanceOf(AuthenticationError)
    expect(printsOf(error)).not.toContain(KEY)
  })

  test('when the provider throws it', async () => {
    const apiKey = () => Promise.reject(new Error(`cannot decrypt ${KEY}`))
    const error = await errorOf(testClient({ baseUrl: 'https://example.invalid/v1', apiKey }).files.get(REF))
    expect(error).toBeInstanceOf(AuthenticationError)
    expect(printsOf(error)).not.toContain(KEY)
  })

  test('when the client is inspected', async () => {
    await using server = await ScriptedServer.start()
    const { files } = testClient({ baseUrl: server.baseUrl })
    await errorOf(files.get(REF))
    expect(inspect(files, { depth: 20, showHidden: true })).not.toContain(KEY)
  })
})

test('a download URL shows in no error and no log line', async () => {
  await using server = await ScriptedServer.start()
  const downloadUrl = `${server.origin}/bytes?signature=hush-hush`
  server.script(
    json(200, { success: true, data: { downloadUrl } }),
    text(500, `see ${downloadUrl}`),
    text(400, downloadUrl),
  )
  const { files, lines } = testClient({ baseUrl: server.baseUrl })
  const chunks = files.stream(REF)
  const error = await errorOf(chunks.next())
  expect(error).toMatchObject({ name: 'InvalidRequestError' })
  expect(printsOf(error) + JSON.stringify(lines)).not.toContain('hush')
})

describe('Secret', () => {
  test('prints its last four characters only', () => {
    const secret = new Secret(KEY)
    expect([String(secret), JSON.stringify({ secret }), inspect(secret)]).toEqual([
      '…WXYZ',
      '{"secret":"…WXYZ"}',
      'Secret(…WXYZ)',
    ])
    expect(secret.reveal()).toBe(KEY)
  })

  test('prints nothing of a short one', () => {
    expect(String(new Secret('hunter2'))).toBe('…')
  })
})

test.each([
  'http://api.example.com/v1',
  'http://127.evil.com/v1',
  'https://user:pass@api.example.com/v1',
  'https://api.example.com/v1?key=1',
  'ftp://api.example.com/v1',
  'api.example.com',
])('refuses %s as base address', (baseUrl) => {
  expect(() => createFilesClient({ baseUrl, apiKey: KEY })).toThrow(/base address/)
})

test('warns of a base address without a version, and adds none', async () => {
  await using server = await ScriptedServer.start()
  const { files, lines } = testClient({ baseUrl: `${server.origin}/` })
  await errorOf(files.get(REF))
  expect(server.seen[0]?.path).toBe('/files/a')
  expect(lines[0]).toMatchObject({ kind: 'warning', message: expect.stringContaining('/v1') })
})
