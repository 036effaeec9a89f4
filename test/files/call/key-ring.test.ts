import { expect, test } from 'vitest'
import { decideRetry } from '../../../src/core/runs/retry.ts'
import { AuthenticationError } from '../../../src/files/index.ts'
import { entry } from '../support/entries.ts'
import { failure, ok, ScriptedServer } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

/** A service that knows one key. */
async function serviceFor(goodKey: () => string): Promise<ScriptedServer> {
  const server = await ScriptedServer.start()
  return server.otherwise((response, request) => {
    const isGood = request.headers.authorization === `Bearer ${goodKey()}`
    const id = decodeURIComponent(request.path.split('/').at(-1) ?? '')
    return (isGood ? ok(entry(id)) : failure(401, 'authentication_error'))(response, request)
  })
}

const ref = (id: string) => ({ service: 'storage_a', id }) as const

test('calls that get a 401 at the same time ask for one new key together', async () => {
  await using server = await serviceFor(() => 'key-two')
  const keys = ['key-one', 'key-two']
  let asked = 0
  const { files } = testClient({ baseUrl: server.baseUrl, apiKey: async () => keys[Math.min(asked++, 1)] ?? '' })
  await Promise.all(['a', 'b', 'c', 'd'].map((id) => files.get(ref(id))))
  expect(asked).toBe(2)
})

test('a key that got a 401 is not sent again: later calls fail without a request', async () => {
  await using server = await serviceFor(() => 'key-two')
  const { files, clock } = testClient({ baseUrl: server.baseUrl, apiKey: 'key-one' })
  const first = await errorOf(files.get(ref('a')))
  expect(first).toBeInstanceOf(AuthenticationError)
  expect(first).toMatchObject({ status: 401, retryable: true, retryAt: clock.now() + 60_000 })
  expect(first).toHaveProperty('message', expect.stringMatching(/\w\. This key is not sent again before 2/))
  const later = await errorOf(files.get(ref('b')))
  expect(later).toBeInstanceOf(AuthenticationError)
  expect(later).toMatchObject({ status: null, attempts: [] })
  expect(server.seen).toHaveLength(1)
})

test('a key that got a 401 is replaced as soon as its provider returns another one', async () => {
  await using server = await serviceFor(() => 'key-two')
  let key = 'key-one'
  const { files } = testClient({ baseUrl: server.baseUrl, apiKey: () => key })
  await errorOf(files.get(ref('a')))
  await errorOf(files.get(ref('a')))
  expect(server.seen).toHaveLength(1)
  key = 'key-two'
  expect(await files.get(ref('a'))).toMatchObject({ id: 'a' })
})

test('a key that got a 401 is tried again after a minute, for the login may have been down', async () => {
  let isUp = false
  await using server = await serviceFor(() => (isUp ? 'key-one' : 'none'))
  const { files, clock } = testClient({ baseUrl: server.baseUrl, apiKey: 'key-one' })
  await errorOf(files.get(ref('a')))
  clock.advance('59s')
  await errorOf(files.get(ref('a')))
  expect(server.seen).toHaveLength(1)
  isUp = true
  clock.advance('1s')
  expect(await files.get(ref('a'))).toMatchObject({ id: 'a' })
})

test('the use of the fallback key is told once', async () => {
  await using server = await serviceFor(() => 'key-new')
  const { files, lines } = testClient({ baseUrl: server.baseUrl, apiKey: 'key-old', fallbackKey: 'key-new' })
  for (const id of ['a', 'b', 'c']) await files.get(ref(id))
  expect(lines.filter(({ kind }) => kind === 'warning')).toEqual([
    { kind: 'warning', message: expect.stringContaining('fallback key') },
  ])
})

test('a run whose keys are all refused waits, and counts no failure', async () => {
  await using server = await serviceFor(() => 'none')
  const { files, clock } = testClient({ baseUrl: server.baseUrl, apiKey: 'key-old', fallbackKey: 'key-new' })
  const policy = { attempts: 1, minMs: 0, maxMs: 0 }
  for (const _attempt of [1, 2]) {
    const error = await errorOf(files.get(ref('a')))
    const decided = decideRetry({ error, attempt: 1, policy, now: clock.now(), random: 0 })
    expect(decided).toEqual({ kind: 'retry', at: clock.now() + 60_000, counts: false })
  }
  expect(server.seen).toHaveLength(2)
})

test('a delete whose keys are all refused fails at once', async () => {
  await using server = await serviceFor(() => 'none')
  const { files, pauses } = testClient({ baseUrl: server.baseUrl, apiKey: 'key-one' })
  expect(await errorOf(files.delete(ref('a')))).toBeInstanceOf(AuthenticationError)
  expect(pauses).toEqual([])
})

test('a provider that returns one bad key after the other is not asked for ever', async () => {
  await using server = await serviceFor(() => 'none')
  let asked = 0
  const { files } = testClient({ baseUrl: server.baseUrl, apiKey: () => `key-${asked++}` })
  expect(await errorOf(files.get(ref('a')))).toBeInstanceOf(AuthenticationError)
  expect(server.seen.length).toBeLessThanOrEqual(3)
})

test('a provider that fails is asked again by the next call', async () => {
  await using server = await serviceFor(() => 'key-one')
  let asked = 0
  const apiKey = async () => {
    if (asked++ === 0) throw new Error('vault is sealed')
    return 'key-one'
  }
  const { files } = testClient({ baseUrl: server.baseUrl, apiKey })
  expect(await errorOf(files.get(ref('a')))).toMatchObject({ name: 'AuthenticationError', retryable: true })
  expect(await files.get(ref('a'))).toMatchObject({ id: 'a' })
})

test('a key that was refused long ago brings the next try of another one no nearer', async () => {
  let good = 'key-two'
  await using server = await serviceFor(() => good)
  const keys = ['key-one', 'key-two']
  let asked = 0
  const { files, clock } = testClient({ baseUrl: server.baseUrl, apiKey: () => keys[Math.min(asked++, 1)] ?? '' })
  await files.get(ref('a'))
  clock.advance('1h')
  good = 'key-three'
  expect(await errorOf(files.get(ref('b')))).toMatchObject({ status: 401, retryAt: clock.now() + 60_000 })
})

test('a key that was refused before the clock was set back is tried again', async () => {
  let good = 'key-two'
  await using server = await serviceFor(() => good)
  const { files, clock } = testClient({ baseUrl: server.baseUrl, apiKey: 'key-one' })
  await errorOf(files.get(ref('a')))
  good = 'key-one'
  clock.set(clock.now() - 3_600_000)
  expect(await files.get(ref('a'))).toMatchObject({ id: 'a' })
})
