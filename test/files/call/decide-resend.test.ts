import { expect, test } from 'vitest'
import { decideRetry } from '../../../src/core/runs/retry.ts'
import { type FilesClientOptions, RateLimitError } from '../../../src/files/index.ts'
import { entry, REF } from '../support/entries.ts'
import { failure, json, ok, type Reply, reset, ScriptedServer, text } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

/** Reads an entry after these replies, which a good one follows. */
async function getAfter(replies: Reply[], options: Partial<FilesClientOptions> & { startAt?: number } = {}) {
  await using server = await ScriptedServer.start()
  server.script(...replies).otherwise(ok(entry('a')))
  const bench = testClient({ baseUrl: server.baseUrl, ...options })
  const result = await bench.files.get(REF).catch((error: unknown) => error)
  return { ...bench, result, requests: server.seen.length }
}

test.each<[string, Reply]>([
  ['a broken connection', reset],
  ['408', text(408, '')],
  ['425', text(425, '')],
  ['500', failure(500, 'service_error')],
  ['an HTML page with 502', text(502, '<html>Bad gateway</html>', { 'content-type': 'text/html' })],
  ['503 without a body', text(503, '')],
  ['a failure inside a 200', json(200, { success: false, error: { code: 'service_error', message: 'storage down' } })],
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
])('a read is sent again after %s', async (_name, reply) => {
  const { result, requests } = await getAfter([reply])
  expect(result).toMatchObject({ id: 'a' })
  expect(requests).toBe(2)
})

test.each([400, 401, 403, 404, 405, 409, 422])('a read is not sent again after %d', async (status) => {
  const { requests } = await getAfter([failure(status, 'x')])
  expect(requests).toBe(1)
})

test('a read is sent four times at most, with every attempt on record', async () => {
  const { result, requests } = await getAfter(Array.from({ length: 9 }, () => failure(503, 'busy')))
  expect(requests).toBe(4)
  expect(result).toMatchObject({ name: 'ServerError', status: 503, code: 'busy', retryable: true, retryAt: null })
  expect(result).toHaveProperty('attempts.length', 4)
  expect(result).toHaveProperty('attempts.3', expect.objectContaining({ n: 4, status: 503, reason: 'busy' }))
})

test('a read is sent again after one unreadable body, not after two', async () => {
  const { result, requests } = await getAfter([text(200, 'oops'), text(200, '<html>'), ok(entry('a'))])
  expect(result).toMatchObject({ name: 'ProtocolError' })
  expect(requests).toBe(2)
})

test('a pause is a random part of a ceiling that doubles up to its cap', async () => {
  const replies = Array.from({ length: 5 }, () => text(500, ''))
  const { pauses } = await getAfter(replies, {
    random: () => 0.5,
    retry: { attempts: 6, base: '1s', cap: '4s' },
  })
  expect(pauses).toEqual([500, 1_000, 2_000, 2_000, 2_000])
})

test('a call with its own retry options keeps to their attempts and pauses', async () => {
  await using server = await ScriptedServer.start()
  server.otherwise(failure(500, 'service_error'))
  const { files, pauses } = testClient({ baseUrl: server.baseUrl, random: () => 0.999_999 })
  await errorOf(files.get(REF, { retry: { attempts: 6, min: '1s', max: '4s' } }))
  expect(server.seen).toHaveLength(6)
  expect(pauses).toEqual([1_000, 2_000, 4_000, 4_000, 4_000])
})

test('a wait that the server names is not shortened by the backoff', async () => {
  const { result, pauses } = await getAfter([text(503, '', { 'retry-after': '40' })])
  expect(result).toMatchObject({ id: 'a' })
  expect(pauses).toEqual([40_000])
})

test('a wait that the server names is spread by up to a second', async () => {
  const { pauses } = await getAfter([failure(429, 'rate_limit_exceeded', { 'retry-after': '40' })], {
    random: () => 0.999,
  })
  expect(pauses[0]).toBe(40_999)
})

test('a Retry-After of 0 for ever is asked ever more seldom, and is no failure of the step', async () => {
  const forever = Array.from({ length: 4 }, () => failure(429, 'rate_limit_exceeded', { 'retry-after': '0' }))
  const { result, pauses, clock } = await getAfter(forever)
  // The pause of the call, and what the key waits beyond it.
  expect(pauses).toEqual([1_000, 1_000, 1_000, 1_000, 3_000])
  expect(result).toMatchObject({
    name: 'RateLimitError',
    message: expect.stringMatching(/exceeded\. Call again at 2\d{3}-/),
  })
  const policy = { attempts: 1, minMs: 0, maxMs: 0 }
  expect(decideRetry({ error: result, attempt: 1, policy, now: clock.now(), random: 0 })).toMatchObject({
    kind: 'retry',
    counts: false,
  })
})

test('a wait of more than a minute fails the call at once and is in the error', async () => {
  const headers = { 'retry-after': '61', 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0' }
  const { result, pauses, requests, clock } = await getAfter([failure(429, 'rate_limit_exceeded', headers)])
  expect(result).toBeInstanceOf(RateLimitError)
  expect(result).toMatchObject({ retryAt: clock.now() + 61_000, retryable: true, limit: 60, remaining: 0 })
  expect(pauses).toEqual([])
  expect(requests).toBe(1)
})

test('a wait beyond the time of the whole call fails the call at once', async () => {
  const { result, pauses } = await getAfter([text(503, '', { 'retry-after': '30' })], { timeouts: { total: '20s' } })
  expect(result).toMatchObject({ name: 'ServerError' })
  expect(pauses).toEqual([])
})
