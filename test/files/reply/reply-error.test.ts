import { expect, test } from 'vitest'
import {
  AuthenticationError,
  FilesError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  UpstreamError,
} from '../../../src/files/index.ts'
import { REF } from '../support/entries.ts'
import { failure, json, type Reply, ScriptedServer, text } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

async function errorAfter(reply: Reply): Promise<unknown> {
  await using server = await ScriptedServer.start()
  server.otherwise(reply)
  return await errorOf(testClient({ baseUrl: server.baseUrl, retry: { attempts: 1 } }).files.get(REF))
}

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
])('a reply %d %s becomes the error of its code, or else of its status', async (status, code, expected) => {
  const error = await errorAfter(failure(status, code))
  expect(error).toBeInstanceOf(expected)
  expect(error).toBeInstanceOf(FilesError)
  expect(error).toMatchObject({ status, code, operation: 'get', service: 'storage_a', details: { hint: 1 } })
})

test('the details of an error may be text', async () => {
  const error = await errorAfter(
    json(400, { status: 'error', error: { code: 'invalid_parameter', details: 'bad path' } }),
  )
  expect(error).toMatchObject({
    details: 'bad path',
    message: 'The service answered 400 invalid_parameter: bad path.',
  })
})

test('an error page that is not JSON becomes the error of its status', async () => {
  const error = await errorAfter(text(403, '<html>no</html>', { 'x-request-id': 'r-17' }))
  expect(error).toMatchObject({
    name: 'PermissionError',
    code: null,
    requestId: 'r-17',
    message: 'The service answered 403.',
  })
})

test.each<[string, Reply, string]>([
  ['a page of a proxy', text(404, '<html>no</html>', { 'content-type': 'text/html' }), '404 with text/html.'],
  ['JSON of a gateway', json(404, { message: 'no route matched' }), '404: no route matched.'],
  ['nothing', text(410, ''), '410.'],
])('a 404 or 410 with %s does not say that an entry is missing', async (_what, reply, says) => {
  const { name, message } = (await errorAfter(reply)) as FilesError
  expect(name).toBe('ProtocolError')
  expect(message).toBe(
    `The service answered ${says} Nothing in it says that the entry is missing: ` +
      'a proxy may have answered, or the base URL is wrong.',
  )
})

test.each([
  [429, failure(429, 'rate_limit_exceeded', { 'retry-after': '60000' })],
  [503, failure(503, 'service_error', { 'retry-after': '60000' })],
])('a %d that names a wait of many hours is asked again after an hour, and says so', async (_status, reply) => {
  const before = Date.now()
  const { retryAt, message } = (await errorAfter(reply)) as FilesError
  expect(retryAt).toBeGreaterThanOrEqual(before)
  expect(retryAt).toBeLessThanOrEqual(Date.now() + 3_600_000)
  expect(message).toMatch(/ It named \S+Z; Upshot asks again after an hour, at \S+Z\.$/)
})

test('a 429 is a RateLimitError whatever code it carries', async () => {
  expect(await errorAfter(failure(429, 'service_error', { 'retry-after': '300' }))).toBeInstanceOf(RateLimitError)
})
