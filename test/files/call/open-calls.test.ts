import { expect } from 'vitest'
import { AbortedError, TimeoutError } from '../../../src/files/index.ts'
import { entry, REF } from '../support/entries.ts'
import { failure, ok, silence, test, text } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

test('a whole call, pauses included, ends in its time', async ({ server }) => {
  server.otherwise(silence)
  const { files, clock } = testClient({ baseUrl: server.baseUrl, timeouts: { attempt: '50s', total: '60s' } })
  const began = clock.now()
  const error = errorOf(files.get(REF))
  await server.received(1)
  clock.advance('50s')
  await server.received(2)
  clock.advance('10s')
  expect(await error).toBeInstanceOf(TimeoutError)
  expect(clock.now() - began).toBe(60_000)
  expect(server.seen).toHaveLength(2)
})

test('a call with a timeout of its own waits no longer than that', async ({ server }) => {
  server.otherwise(failure(429, 'rate_limit_exceeded', { 'retry-after': '20' }))
  const { files } = testClient({ baseUrl: server.baseUrl })
  await errorOf(files.get(REF, { timeout: '10s' }))
  expect(server.seen).toHaveLength(1)
})

test('the caller’s signal ends a pause at once', async ({ server }) => {
  server.otherwise(text(503, '', { 'retry-after': '50' }))
  const { files, logged } = testClient({ baseUrl: server.baseUrl, skipPauses: false })
  const caller = new AbortController()
  const error = errorOf(files.get(REF, { signal: caller.signal }))
  await logged('wait')
  caller.abort()
  expect(await error).toBeInstanceOf(AbortedError)
  expect(server.seen).toHaveLength(1)
})

test('a signal that has aborted before lets no call begin', async ({ server }) => {
  const { files } = testClient({ baseUrl: server.baseUrl })
  expect(await errorOf(files.get(REF, { signal: AbortSignal.abort() }))).toBeInstanceOf(AbortedError)
  expect(await errorOf(files.delete(REF, { signal: AbortSignal.abort() }))).toBeInstanceOf(AbortedError)
  expect(server.seen).toHaveLength(0)
})

test('stop() ends running calls and refuses new ones', async ({ server }) => {
  server.otherwise(silence)
  const { files } = testClient({ baseUrl: server.baseUrl })
  const running = errorOf(files.get(REF))
  await server.received(1)
  await Promise.all([files.stop(), files.stop()])
  expect(await running).toBeInstanceOf(AbortedError)
  expect(await errorOf(files.get(REF))).toBeInstanceOf(AbortedError)
  expect(server.seen).toHaveLength(1)
})

test('a function that never gives the key holds up no call beyond its time, and no stop', async ({ server }) => {
  const asked = Promise.withResolvers<void>()
  const apiKey = () => {
    asked.resolve()
    return new Promise<string>(() => {})
  }
  const { files, clock } = testClient({ baseUrl: server.baseUrl, apiKey })
  const late = errorOf(files.get(REF, { timeout: '10s' }))
  await asked.promise
  clock.advance('10s')
  expect(await late).toBeInstanceOf(TimeoutError)
  const running = errorOf(files.delete(REF))
  await files.stop()
  expect(await running).toBeInstanceOf(AbortedError)
})

test('a function that once never gave the key is asked again by a later call', async ({ server }) => {
  let asked = 0
  const first = Promise.withResolvers<void>()
  const apiKey = () => {
    asked += 1
    first.resolve()
    return asked === 1 ? new Promise<string>(() => {}) : 'key-two'
  }
  const { files, clock } = testClient({ baseUrl: server.baseUrl, apiKey })
  const late = errorOf(files.get(REF, { timeout: '60s' }))
  await first.promise
  clock.advance('60s')
  expect(await late).toBeInstanceOf(TimeoutError)
  server.script(ok(entry(REF.id)))
  expect(await files.get(REF)).toMatchObject({ id: REF.id })
  expect(asked).toBe(2)
})
