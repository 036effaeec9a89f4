import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'vitest'
import { type LimiterStore, LocalRateLimitError, memoryLimiterStore } from '../../../src/files/index.ts'
import { WINDOW_MS } from '../../../src/files/limit/decide-start.ts'
import { REF, requestedEntry } from '../support/entries.ts'
import { ANSWERED, makeLimiter } from '../support/limiter-bench.ts'
import { test } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

test('the limiter starts interactive requests first and background requests last', async () => {
  const { clock, names, enter } = makeLimiter({ perMinute: 1 })
  void enter('x')
  await turn()
  void enter('b', { priority: 'background' })
  void enter('w')
  void enter('i', { priority: 'interactive' })
  for (let windows = 0; windows < 3; windows++) {
    clock.advance(WINDOW_MS)
    await turn()
  }
  expect(names()).toBe('xiwb')
})

test('a request that cannot start in time is refused at once, with a moment to come back', async () => {
  const { clock, enter, limiter } = makeLimiter()
  for (const name of 'abc') void enter(name)
  await turn()
  const error = await errorOf(enter('d', { maxWaitMs: 60_000 }))
  expect(error).toBeInstanceOf(LocalRateLimitError)
  expect(error).toMatchObject({ retryable: true, retryAt: clock.now() + WINDOW_MS, status: null })
  expect(limiter.waiting).toBe(0)
  expect(clock.nextAt()).toBe(null)
})

test('a request whose start is being decided is not refused', async () => {
  const { names, enter } = makeLimiter({ perMinute: 2 })
  const ends = ['a', 'b', 'c'].map((name) =>
    enter(name, { maxWaitMs: 1_000 }).then(
      () => true,
      () => false,
    ),
  )
  expect(await Promise.all(ends)).toEqual([true, true, false])
  expect(names()).toBe('ab')
})

test('a request that only a slow store holds up is not refused', async () => {
  const kept = memoryLimiterStore()
  const slow = Promise.withResolvers<void>()
  const load = async (key: string) => {
    await slow.promise
    return kept.load(key)
  }
  const { clock, names, enter, limiter } = makeLimiter({ store: { ...kept, load } })
  const first = enter('a', { maxWaitMs: 5_000 })
  clock.advance(6_000)
  const second = enter('b', { maxWaitMs: 5_000 })
  expect(limiter.waiting).toBe(2)
  slow.resolve()
  await Promise.all([first, second])
  expect(names()).toBe('ab')
})

test('a request that others overtake is refused once it would start too late', async () => {
  const { clock, enter } = makeLimiter({ perMinute: 1 })
  void enter('x')
  await turn()
  const late = errorOf(enter('b', { priority: 'background', maxWaitMs: 70_000 }))
  void enter('i', { priority: 'interactive' })
  await turn()
  clock.advance(1)
  expect(await late).toBeInstanceOf(LocalRateLimitError)
})

test('a request whose caller aborts leaves the queue', async () => {
  const { clock, names, enter, limiter } = makeLimiter({ perMinute: 1 })
  void enter('x')
  await turn()
  const caller = new AbortController()
  const gone = errorOf(enter('y', { signal: caller.signal }))
  void enter('z')
  caller.abort(new Error('no longer'))
  expect(await gone).toMatchObject({ message: 'no longer' })
  expect(limiter.waiting).toBe(1)
  clock.advance(WINDOW_MS)
  await turn()
  expect(names()).toBe('xz')
})

test('a request that leaves the queue while its start is decided gives the start back', async () => {
  const memory = memoryLimiterStore()
  const held = Promise.withResolvers<void>()
  const store: LimiterStore = { ...memory, save: async (...given) => held.promise.then(() => memory.save(...given)) }
  const { names, enter } = makeLimiter({ perMinute: 1, store })
  const caller = new AbortController()
  const gone = errorOf(enter('x', { signal: caller.signal }))
  await turn()
  caller.abort(new Error('no longer'))
  expect(await gone).toMatchObject({ message: 'no longer' })
  held.resolve()
  await turn()
  void enter('y')
  await turn()
  expect(names()).toBe('y')
})

test('the limiter adopts the limit that the service names, unless its own is final', async () => {
  const learning = makeLimiter({ perMinute: 1, isFinal: false })
  await learning.limiter.report({ ...ANSWERED, limit: 3 })
  const fixed = makeLimiter({ perMinute: 1 })
  await fixed.limiter.report({ ...ANSWERED, limit: 3 })
  for (const name of 'abcd') {
    void learning.enter(name)
    void fixed.enter(name)
  }
  await turn()
  expect([learning.names(), fixed.names()]).toEqual(['abc', 'a'])
})

test('a clock that is set back holds up the limiter for one window at most', async () => {
  const { clock, names, enter } = makeLimiter({ perMinute: 1 })
  void enter('a')
  await turn()
  clock.set(clock.now() - 3_600_000)
  void enter('b')
  await turn()
  clock.advance(WINDOW_MS)
  await turn()
  expect(names()).toBe('ab')
})

test('a clock that was a year ahead is in no promise, and blocks no key for a year', async () => {
  const { clock, enter, limiter } = makeLimiter({ perMinute: 1 })
  const start = clock.now()
  const refuse = async (name: string) => (await errorOf(enter(name, { maxWaitMs: 5_000 }))) as LocalRateLimitError
  clock.set(start + 365 * 86_400_000)
  void enter('a')
  await turn()
  await refuse('b')
  clock.set(start)
  expect((await refuse('c')).retryAt).toBeLessThanOrEqual(start + 2 * WINDOW_MS)
  await limiter.report({ isProbe: false, isAnswered: true, blockedUntil: start + 365 * 86_400_000, limit: null })
  expect((await refuse('d')).retryAt).toBeLessThanOrEqual(start + 2 * 3_600_000)
  void enter('e', { maxWaitMs: 3_700_000 })
  await turn()
  clock.advance(3_600_000)
  await turn()
  expect((await refuse('f')).retryAt).toBeLessThanOrEqual(clock.now() + 3 * WINDOW_MS)
})

test('a store that fails gives its error to every waiting request', async () => {
  const store: LimiterStore = { ...memoryLimiterStore(), save: () => Promise.reject(new Error('disk full')) }
  const { enter } = makeLimiter({ store })
  expect(await errorOf(enter('a'))).toMatchObject({ message: 'disk full' })
})

test('ten thousand calls at once keep the queue short and take no longer than the limit asks for', async () => {
  const perMinute = 60
  const { limiter, clock, starts, enter } = makeLimiter({ perMinute })
  const began = clock.now()
  const returning = new Map<number, number>()
  let longest = 0
  let refusals = 0
  const call = () =>
    void enter('', { maxWaitMs: 60_000 }).catch((error: LocalRateLimitError) => {
      refusals++
      expect(error.retryAt).toBeGreaterThan(clock.now())
      returning.set(error.retryAt, (returning.get(error.retryAt) ?? 0) + 1)
    })
  for (let count = 0; count < 10_000; count++) {
    call()
    longest = Math.max(longest, limiter.waiting)
  }
  await turn()
  while (starts.length < 10_000) {
    const next = Math.min(clock.nextAt() ?? Infinity, ...returning.keys())
    const due = returning.get(next) ?? 0
    returning.delete(next)
    clock.set(next)
    for (let count = 0; count < due; count++) call()
    longest = Math.max(longest, limiter.waiting)
    await turn()
  }
  expect(longest).toBeLessThanOrEqual(2 * perMinute)
  expect(refusals).toBeLessThan(2 * 10_000)
  const tooSoon = starts.filter(
    (start, index) => index >= perMinute && start.at - (starts[index - perMinute]?.at ?? 0) < WINDOW_MS,
  )
  expect(tooSoon).toEqual([])
  expect(clock.now() - began).toBeLessThan((10_000 / perMinute) * WINDOW_MS * 1.02)
}, 60_000)

test('the client adopts the limit that a successful reply names', async ({ server }) => {
  server.otherwise(requestedEntry({ 'x-ratelimit-limit': '2' }))
  const { files } = testClient({ baseUrl: server.baseUrl, plan: 'free' })
  await files.get(REF)
  await files.get({ service: 'storage_a', id: 'b' })
  expect(await errorOf(files.get({ service: 'storage_a', id: 'c' }))).toBeInstanceOf(LocalRateLimitError)
})

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

test('a key that answers each probe "in a second" soon waits for longer than a run keeps its slot', async () => {
  const { limiter, clock, enter, starts } = makeLimiter({ perMinute: 1_000 })
  const refuse = async (isProbe: boolean) => limiter.report({ ...ANSWERED, isProbe, blockedUntil: clock.now() + 1_000 })
  await refuse(false)
  const pauses: number[] = []
  for (let probes = 0; probes < 8; probes++) {
    const blockedAt = clock.now()
    void enter('probe')
    await turn()
    clock.set(clock.nextAt() ?? 0)
    await turn()
    pauses.push(clock.now() - blockedAt)
    await refuse(true)
  }
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
  expect(starts.every(({ isProbe }) => isProbe)).toBe(true)
  expect(await errorOf(enter('a', { maxWaitMs: 5_000 }))).toMatchObject({ retryAt: clock.now() + 60_000 })
  clock.advance('1m')
  void enter('b')
  await turn()
  await limiter.report({ ...ANSWERED, isProbe: true })
  await refuse(false)
  expect(await errorOf(enter('c', { maxWaitMs: 500 }))).toMatchObject({ retryAt: clock.now() + 1_000 })
})

test('a request that a 429 refuses for long says that the service asked for it', async () => {
  const { limiter, clock, enter } = makeLimiter({ perMinute: 10 })
  await limiter.report({ ...ANSWERED, blockedUntil: clock.now() + 3_600_000 })
  await expect(enter('a', { maxWaitMs: 60_000 })).rejects.toThrow(/^The service told this key to wait\. Call again at/)
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

test('a burst starts more requests at once than a minute allows, and makes up for it afterwards', async () => {
  const { clock, starts, enter } = makeLimiter({ perMinute: 2, burst: 4 })
  const names = ['a', 'b', 'c', 'd']
  for (const name of names) await enter(name)
  await expect(enter('e', { maxWaitMs: 2 * WINDOW_MS - 1 })).rejects.toMatchObject({ name: 'LocalRateLimitError' })
  clock.advance(2 * WINDOW_MS)
  for (const name of names) await enter(name)
  expect(starts).toHaveLength(8)
})

test('a look waits until its delete may start as well, and nobody else gets the start that it keeps', async () => {
  const { limiter, clock, names, enter } = makeLimiter({ perMinute: 3 })
  const keptAt = await enter('a', { isFollowed: true })
  const second = enter('b', { isFollowed: true })
  void enter('c')
  await turn()
  expect(names()).toBe('a')
  expect(await limiter.startKept(keptAt ?? 0)).toBe(true)
  clock.advance(WINDOW_MS)
  await second
  await turn()
  expect(names()).toBe('abc')
})

test('a kept start counts from when it is used, so that no minute has more than the limit', async () => {
  const { limiter, clock, names, enter } = makeLimiter({ perMinute: 2 })
  const keptAt = await enter('a', { isFollowed: true })
  clock.advance('30s')
  expect(await limiter.startKept(keptAt ?? 0)).toBe(true)
  void enter('b')
  void enter('c')
  clock.advance(WINDOW_MS - 30_000)
  await turn()
  expect(names()).toBe('ab')
  clock.advance('30s')
  await turn()
  expect(names()).toBe('abc')
})

test.each<[string, (bench: ReturnType<typeof makeLimiter>) => Promise<void> | void]>([
  ['of more than a minute ago', ({ clock }) => clock.advance(WINDOW_MS)],
  ['before a 429', ({ limiter, clock }) => limiter.report({ ...ANSWERED, blockedUntil: clock.now() + 30_000 })],
])('a kept start %s is given back, and its request has to wait like others', async (_, change) => {
  const bench = makeLimiter({ perMinute: 2 })
  const keptAt = await bench.enter('a', { isFollowed: true })
  await change(bench)
  expect(await bench.limiter.startKept(keptAt ?? 0)).toBe(false)
  bench.clock.advance(WINDOW_MS - 1)
  void bench.enter('b')
  await turn()
  expect(bench.names()).toBe('ab')
})

test('a start that a look kept for nothing goes to the next request', async () => {
  const { limiter, names, enter } = makeLimiter({ perMinute: 2 })
  const keptAt = await enter('a', { isFollowed: true })
  void enter('b')
  await turn()
  expect(names()).toBe('a')
  await limiter.giveBack(keptAt ?? 0)
  await turn()
  expect(names()).toBe('ab')
})

test.each([
  ['a limit of one request a minute', { perMinute: 1 }, false],
  ['the one request that asks whether a key is open', { perMinute: 3 }, true],
])('%s keeps no start', async (_, limit, isBlocked) => {
  const { limiter, clock, enter } = makeLimiter(limit)
  if (isBlocked) await limiter.report({ ...ANSWERED, blockedUntil: clock.now() + 1_000 })
  const entered = enter('a', { isFollowed: true })
  clock.advance('1s')
  expect(await entered).toBe(null)
})
