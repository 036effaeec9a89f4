import { describe, expect, test } from 'vitest'
import { type FilesClientOptions, RateLimitError } from '../../../src/files/index.ts'
import { entry } from '../support/entries.ts'
import { failure, json, ok, type Reply, reset, ScriptedServer, text } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

const REF = { service: 'storage_a', id: 'a' } as const

async function getAfter(replies: Reply[], options: Partial<FilesClientOptions> & { startAt?: number } = {}) {
  await using server = await ScriptedServer.start()
  server.script(...replies).otherwise(ok(entry('a')))
  const bench = testClient({ baseUrl: server.baseUrl, ...options })
  const result = await bench.files.get(REF).catch((error: unknown) => error)
  return { ...bench, result, requests: server.seen.length }
}

describe('a read', () => {
  test.each<[string, Reply]>([
    ['a broken connection', reset],
    ['408', text(408, '')],
    ['425', text(425, '')],
    ['500', failure(500, 'service_error')],
    ['an HTML page with 502', text(502, '<html>Bad gateway</html>', { 'content-type': 'text/html' })],
    ['503 without a body', text(503, '')],
    [
      'a failure inside a 200',
      json(200, { success: false, error: { code: 'service_error', message: 'storage down' } }),
    ],
    ['a failure of the other form inside a 200', json(200, { status: 'error', error: { code: 'x', details: 'no' } })],
    ['JSON without data, error or flag', json(200, {})],
    ['truncated JSON', text(200, '{"success":true,"data":{"id":"a"')],
    [
      'JSON that breaks off with its connection',
      (response) => {
        response.writeHead(200, { 'content-length': 100 })
        response.write('{"success":true', () => response.destroy())
      },
    ],
  ])('is sent again after %s', async (_name, reply) => {
    const { result, requests } = await getAfter([reply])
    expect(result).toMatchObject({ id: 'a' })
    expect(requests).toBe(2)
  })

  test.each([400, 401, 403, 404, 405, 409, 422])('is not sent again after %d', async (status) => {
    const { requests } = await getAfter([failure(status, 'x')])
    expect(requests).toBe(1)
  })

  test('is sent four times at most, with every attempt on record', async () => {
    const { result, requests } = await getAfter(Array.from({ length: 9 }, () => failure(503, 'busy')))
    expect(requests).toBe(4)
    expect(result).toMatchObject({ name: 'ServerError', status: 503, code: 'busy', retryable: true, retryAt: null })
    expect(result).toHaveProperty('attempts.length', 4)
    expect(result).toHaveProperty('attempts.3', expect.objectContaining({ n: 4, status: 503, reason: 'busy' }))
  })

  test('puts up with one unreadable body, not with two', async () => {
    const { result, requests } = await getAfter([text(200, 'oops'), text(200, '<html>'), ok(entry('a'))])
    expect(result).toMatchObject({ name: 'ProtocolError' })
    expect(requests).toBe(2)
  })

  test('pauses a random part of a ceiling that doubles up to its cap', async () => {
    const replies = Array.from({ length: 5 }, () => text(500, ''))
    const { pauses } = await getAfter(replies, {
      random: () => 0.5,
      retry: { attempts: 6, base: '1s', cap: '4s' },
    })
    expect(pauses).toEqual([500, 1_000, 2_000, 2_000, 2_000])
  })
})

describe('a moment named by the server', () => {
  test('is waited for, and never shortened by the backoff', async () => {
    const { result, pauses } = await getAfter([text(503, '', { 'retry-after': '40' })])
    expect(result).toMatchObject({ id: 'a' })
    expect(pauses).toEqual([40_000])
  })

  test('is spread by up to a second', async () => {
    const { pauses } = await getAfter([failure(429, 'rate_limit_exceeded', { 'retry-after': '40' })], {
      random: () => 0.999,
    })
    expect(pauses[0]).toBe(40_999)
  })

  test('is now when Retry-After is 0', async () => {
    const { result, pauses } = await getAfter([failure(429, 'rate_limit_exceeded', { 'retry-after': '0' })], {
      random: () => 0.9,
    })
    expect(result).toMatchObject({ id: 'a' })
    expect(pauses).toEqual([])
  })

  test('is a minute from now for a 429 that does not say', async () => {
    const { pauses } = await getAfter([text(429, '')])
    expect(pauses).toEqual([60_000])
  })

  test('is waited for up to a minute, whatever its spread', async () => {
    const { result, pauses } = await getAfter([failure(429, 'rate_limit_exceeded', { 'retry-after': '60' })], {
      random: () => 0.5,
    })
    expect(result).toMatchObject({ id: 'a' })
    expect(pauses).toEqual([60_500])
  })

  test('is not waited for beyond a minute: the call fails at once and says when', async () => {
    const headers = { 'retry-after': '61', 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0' }
    const { result, pauses, requests, clock } = await getAfter([failure(429, 'rate_limit_exceeded', headers)])
    expect(result).toBeInstanceOf(RateLimitError)
    expect(result).toMatchObject({ retryAt: clock.now() + 61_000, retryable: true, limit: 60, remaining: 0 })
    expect(pauses).toEqual([])
    expect(requests).toBe(1)
  })

  test('is in the error of a 503, too, when it is too far away', async () => {
    const { result, clock } = await getAfter([text(503, '', { 'retry-after': '3600' })])
    expect(result).toMatchObject({ name: 'ServerError', retryAt: clock.now() + 3_600_000 })
  })

  test('is not waited for beyond the time of the whole call', async () => {
    const { result, pauses } = await getAfter([text(503, '', { 'retry-after': '30' })], { timeouts: { total: '20s' } })
    expect(result).toMatchObject({ name: 'ServerError' })
    expect(pauses).toEqual([])
  })
})

test('retries stop when the quota is used up, and come back with time', async () => {
  await using server = await ScriptedServer.start()
  server.otherwise(text(500, ''))
  const { files, clock } = testClient({ baseUrl: server.baseUrl, retry: { quota: 10 } })
  await errorOf(files.get(REF))
  expect(server.seen).toHaveLength(3)
  await errorOf(files.get(REF))
  expect(server.seen).toHaveLength(4)
  clock.advance('5s')
  await errorOf(files.get(REF))
  expect(server.seen).toHaveLength(6)
})

test('being throttled costs no quota', async () => {
  const throttled = Array.from({ length: 3 }, () => failure(429, 'rate_limit_exceeded', { 'retry-after': '1' }))
  const { result } = await getAfter(throttled, { retry: { quota: 0 } })
  expect(result).toMatchObject({ id: 'a' })
})

test('a 429 stays a 429 whatever code it carries', async () => {
  const { result } = await getAfter([failure(429, 'service_error', { 'retry-after': '300' })])
  expect(result).toBeInstanceOf(RateLimitError)
})

test('a redirect to the same origin keeps the key, one to another does not', async () => {
  await using server = await ScriptedServer.start()
  await using other = await ScriptedServer.start()
  other.otherwise(ok(entry('a')))
  server.script(text(307, '', { location: '/v1/moved' }), text(302, '', { location: `${other.origin}/elsewhere` }))
  await testClient({ baseUrl: server.baseUrl }).files.get(REF)
  expect(server.seen[1]?.headers.authorization).toMatch(/^Bearer /)
  expect(other.seen[0]?.headers.authorization).toBeUndefined()
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

describe('a call that is told otherwise', () => {
  test('is tried so often and no more, and pauses so long and no longer', async () => {
    await using server = await ScriptedServer.start()
    server.otherwise(failure(500, 'service_error'))
    const { files, pauses } = testClient({ baseUrl: server.baseUrl, random: () => 0.999_999 })
    await errorOf(files.get(REF, { retry: { attempts: 6, min: '1s', max: '4s' } }))
    expect(server.seen).toHaveLength(6)
    expect(pauses).toEqual([1_000, 2_000, 4_000, 4_000, 4_000])
  })

  test('ends when its own time is over', async () => {
    await using server = await ScriptedServer.start()
    server.otherwise(failure(429, 'rate_limit_exceeded', { 'retry-after': '20' }))
    const { files } = testClient({ baseUrl: server.baseUrl })
    await errorOf(files.get(REF, { timeout: '10s' }))
    expect(server.seen).toHaveLength(1)
  })
})
