import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../src/core/time.ts'
import { LocalRateLimitError, memoryLimiterStore } from '../../../src/files/index.ts'
import { entry } from '../support/entries.ts'
import { ANSWERED, makeLimiter } from '../support/limiter-bench.ts'
import { failure, ok, ScriptedServer } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

test('a 429 blocks its key until its moment; then one probe starts, then everyone', async () => {
  const { limiter, clock, names, starts, enter } = makeLimiter({ perMinute: 10 })
  await limiter.report({ ...ANSWERED, blockedUntil: clock.now() + 30_000 })
  for (const name of 'abc') void enter(name)
  clock.advance(29_999)
  await turn()
  expect(names()).toBe('')
  clock.advance(1)
  await turn()
  expect(starts).toMatchObject([{ name: 'a', isProbe: true }])
  await limiter.report({ ...ANSWERED, isProbe: true })
  await turn()
  expect(names()).toBe('abc')
})

test('a probe that gets a 429 blocks its key again', async () => {
  const { limiter, clock, names, enter } = makeLimiter({ perMinute: 10 })
  await limiter.report({ ...ANSWERED, blockedUntil: clock.now() + 30_000 })
  void enter('a')
  void enter('b')
  clock.advance('30s')
  await turn()
  await limiter.report({ ...ANSWERED, isProbe: true, blockedUntil: clock.now() + 40_000 })
  clock.advance('39s')
  await turn()
  expect(names()).toBe('a')
  clock.advance('1s')
  await turn()
  expect(names()).toBe('ab')
})

test('a probe without a reply opens nothing, and another one starts', async () => {
  const { limiter, clock, starts, enter } = makeLimiter({ perMinute: 10 })
  await limiter.report({ ...ANSWERED, blockedUntil: clock.now() + 1_000 })
  for (const name of 'abc') void enter(name)
  clock.advance('1s')
  await turn()
  await limiter.report({ ...ANSWERED, isProbe: true, isAnswered: false })
  await turn()
  expect(starts).toMatchObject([
    { name: 'a', isProbe: true },
    { name: 'b', isProbe: true },
  ])
})

test('a probe that never reports is followed by another one', async () => {
  const { limiter, clock, starts, enter } = makeLimiter({ perMinute: 10 })
  await limiter.report({ ...ANSWERED, blockedUntil: clock.now() + 1_000 })
  void enter('a')
  void enter('b')
  clock.advance('1s')
  await turn()
  for (let second = 0; second < 60; second++) {
    clock.advance('1s')
    await turn()
  }
  expect(starts).toMatchObject([
    { name: 'a', isProbe: true },
    { name: 'b', isProbe: true },
  ])
})

test('a reply to an earlier request does not open a blocked key', async () => {
  const { limiter, clock, names, enter } = makeLimiter({ perMinute: 10 })
  await limiter.report({ ...ANSWERED, blockedUntil: clock.now() + 30_000 })
  await limiter.report(ANSWERED)
  void enter('a')
  await turn()
  expect(names()).toBe('')
})

test('a blocked key stays blocked for a process that starts later', async () => {
  const store = memoryLimiterStore()
  const clock = new ManualClock()
  const before = makeLimiter({ store, clock })
  await before.limiter.report({ ...ANSWERED, blockedUntil: clock.now() + 30_000 })
  const after = makeLimiter({ store, clock })
  void after.enter('a')
  await turn()
  expect(after.names()).toBe('')
  clock.advance('30s')
  await turn()
  expect(after.names()).toBe('a')
})

test('a 429 holds back every call of the client with that key', async () => {
  await using server = await ScriptedServer.start()
  server.script(failure(429, 'rate_limit_exceeded', { 'retry-after': '300' })).otherwise(ok(entry('b')))
  const { files, clock } = testClient({ baseUrl: server.baseUrl })
  await errorOf(files.get({ service: 'storage_a', id: 'a' }))
  const error = await errorOf(files.get({ service: 'storage_a', id: 'b' }))
  expect(error).toBeInstanceOf(LocalRateLimitError)
  expect(error).toMatchObject({ operation: 'get' })
  expect((error as LocalRateLimitError).retryAt).toBeGreaterThanOrEqual(clock.now() + 300_000)
  expect(server.seen).toHaveLength(1)
  clock.advance('300s')
  expect(await files.get({ service: 'storage_a', id: 'b' })).toMatchObject({ id: 'b' })
})
