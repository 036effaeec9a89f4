import { describe, expect, test } from 'vitest'
import { ManualClock } from '../../../src/core/time.ts'
import { type LimiterStore, LocalRateLimitError, memoryLimiterStore, type Priority } from '../../../src/files/index.ts'
import { WINDOW_MS } from '../../../src/files/limit/decide-start.ts'
import { Limiter } from '../../../src/files/limit/limiter.ts'
import { entry } from '../support/entries.ts'
import { failure, ok, ScriptedServer } from '../support/scripted-server.ts'
import { errorOf, testClient } from '../support/test-client.ts'

const FACTS = { operation: 'get', service: 'storage_a' } as const
const turn = () => new Promise((resolve) => setImmediate(resolve))

function makeLimiter(
  options: { perMinute?: number; isFinal?: boolean; store?: LimiterStore; clock?: ManualClock } = {},
) {
  const { perMinute = 3, isFinal = true, store = memoryLimiterStore(), clock = new ManualClock() } = options
  const limiter = new Limiter({ key: 'k', store, clock, limit: { perMinute, isFinal } })
  const starts: { name: string; at: number; isProbe: boolean }[] = []
  const enter = (name: string, ticket: { priority?: Priority; maxWaitMs?: number; signal?: AbortSignal } = {}) =>
    limiter
      .enter({
        priority: ticket.priority ?? 'workflow',
        signal: ticket.signal ?? new AbortController().signal,
        latestAt: clock.now() + (ticket.maxWaitMs ?? 1e9),
        facts: FACTS,
        onWait: () => {},
      })
      .then(({ isProbe }) => {
        starts.push({ name, at: clock.now(), isProbe })
      })
  const names = () => starts.map((start) => start.name).join('')
  return { limiter, clock, store, starts, names, enter }
}

const fine = { isProbe: false, isAnswered: true, blockedUntil: null, limit: null }

describe('the limiter', () => {
  test('starts no more than the limit in any 61 seconds', async () => {
    const { clock, names, enter } = makeLimiter()
    for (const name of 'abcde') void enter(name)
    await turn()
    expect(names()).toBe('abc')
    clock.advance(WINDOW_MS - 1)
    void enter('f')
    await turn()
    expect(names()).toBe('abc')
    clock.advance(1)
    await turn()
    expect(names()).toBe('abcdef')
  })

  test('lets interactive calls go first and background calls last', async () => {
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

  test('refuses at once who could not start in time, and says when to come back', async () => {
    const { clock, enter, limiter } = makeLimiter()
    for (const name of 'abc') void enter(name)
    await turn()
    const error = await errorOf(enter('d', { maxWaitMs: 60_000 }))
    expect(error).toBeInstanceOf(LocalRateLimitError)
    expect(error).toMatchObject({ retryable: true, retryAt: clock.now() + WINDOW_MS, status: null })
    expect(limiter.waiting).toBe(0)
    expect(clock.nextAt()).toBe(null)
  })

  test('refuses nobody whose place is just being asked for', async () => {
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

  test('refuses who is overtaken so often that it would start too late', async () => {
    const { clock, enter } = makeLimiter({ perMinute: 1 })
    void enter('x')
    await turn()
    const late = errorOf(enter('b', { priority: 'background', maxWaitMs: 70_000 }))
    void enter('i', { priority: 'interactive' })
    await turn()
    clock.advance(1)
    expect(await late).toBeInstanceOf(LocalRateLimitError)
  })

  test('lets go of a call whose caller gave up', async () => {
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

  test('adopts the limit that the service names, unless a person has set one', async () => {
    const learning = makeLimiter({ perMinute: 1, isFinal: false })
    await learning.limiter.report({ ...fine, limit: 3 })
    const fixed = makeLimiter({ perMinute: 1 })
    await fixed.limiter.report({ ...fine, limit: 3 })
    for (const name of 'abcd') {
      void learning.enter(name)
      void fixed.enter(name)
    }
    await turn()
    expect([learning.names(), fixed.names()]).toEqual(['abc', 'a'])
  })

  test('is not held up by a clock that is set back', async () => {
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

  test('gives its error to everyone who waits when its store fails', async () => {
    const store: LimiterStore = { ...memoryLimiterStore(), save: () => Promise.reject(new Error('disk full')) }
    const { enter } = makeLimiter({ store })
    expect(await errorOf(enter('a'))).toMatchObject({ message: 'disk full' })
  })
})

describe('after a 429', () => {
  test('nobody starts until its moment; then one probe, then everyone', async () => {
    const { limiter, clock, names, starts, enter } = makeLimiter({ perMinute: 10 })
    await limiter.report({ ...fine, blockedUntil: clock.now() + 30_000 })
    for (const name of 'abc') void enter(name)
    clock.advance(29_999)
    await turn()
    expect(names()).toBe('')
    clock.advance(1)
    await turn()
    expect(starts).toMatchObject([{ name: 'a', isProbe: true }])
    await limiter.report({ ...fine, isProbe: true })
    await turn()
    expect(names()).toBe('abc')
  })

  test('a probe that is throttled again closes the key again', async () => {
    const { limiter, clock, names, enter } = makeLimiter({ perMinute: 10 })
    await limiter.report({ ...fine, blockedUntil: clock.now() + 30_000 })
    void enter('a')
    void enter('b')
    clock.advance('30s')
    await turn()
    await limiter.report({ ...fine, isProbe: true, blockedUntil: clock.now() + 40_000 })
    clock.advance('39s')
    await turn()
    expect(names()).toBe('a')
    clock.advance('1s')
    await turn()
    expect(names()).toBe('ab')
  })

  test('a probe that got no reply opens nothing: another goes out', async () => {
    const { limiter, clock, starts, enter } = makeLimiter({ perMinute: 10 })
    await limiter.report({ ...fine, blockedUntil: clock.now() + 1_000 })
    for (const name of 'abc') void enter(name)
    clock.advance('1s')
    await turn()
    await limiter.report({ ...fine, isProbe: true, isAnswered: false })
    await turn()
    expect(starts).toMatchObject([
      { name: 'a', isProbe: true },
      { name: 'b', isProbe: true },
    ])
  })

  test('a probe that never came back is followed by another', async () => {
    const { limiter, clock, starts, enter } = makeLimiter({ perMinute: 10 })
    await limiter.report({ ...fine, blockedUntil: clock.now() + 1_000 })
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

  test('a reply to an earlier request does not open the key', async () => {
    const { limiter, clock, names, enter } = makeLimiter({ perMinute: 10 })
    await limiter.report({ ...fine, blockedUntil: clock.now() + 30_000 })
    await limiter.report(fine)
    void enter('a')
    await turn()
    expect(names()).toBe('')
  })

  test('a process that starts later keeps to it, too', async () => {
    const store = memoryLimiterStore()
    const clock = new ManualClock()
    const before = makeLimiter({ store, clock })
    await before.limiter.report({ ...fine, blockedUntil: clock.now() + 30_000 })
    const after = makeLimiter({ store, clock })
    void after.enter('a')
    await turn()
    expect(after.names()).toBe('')
    clock.advance('30s')
    await turn()
    expect(after.names()).toBe('a')
  })
})

test('two limiters on one store share one limit', async () => {
  const store = memoryLimiterStore()
  const clock = new ManualClock()
  const [one, two] = [makeLimiter({ store, clock }), makeLimiter({ store, clock })]
  for (const name of 'abc') {
    void one.enter(name)
    void two.enter(name)
  }
  await turn()
  expect(one.starts.length + two.starts.length).toBe(3)
  clock.advance(WINDOW_MS)
  await turn()
  expect(one.starts.length + two.starts.length).toBe(6)
})

test('ten thousand calls at once keep the queue short, break no limit, and are done in the time that the limit allows', async () => {
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

describe('the client', () => {
  const ref = (id: string) => ({ service: 'storage_a', id }) as const

  test('blocks every call of the key after a 429', async () => {
    await using server = await ScriptedServer.start()
    server.script(failure(429, 'rate_limit_exceeded', { 'retry-after': '300' })).otherwise(ok(entry('b')))
    const { files, clock } = testClient({ baseUrl: server.baseUrl })
    await errorOf(files.get(ref('a')))
    const error = await errorOf(files.get(ref('b')))
    expect(error).toBeInstanceOf(LocalRateLimitError)
    expect(error).toMatchObject({ operation: 'get' })
    expect((error as LocalRateLimitError).retryAt).toBeGreaterThanOrEqual(clock.now() + 300_000)
    expect(server.seen).toHaveLength(1)
    clock.advance('300s')
    expect(await files.get(ref('b'))).toMatchObject({ id: 'b' })
  })

  test('adopts the limit in a successful reply', async () => {
    await using server = await ScriptedServer.start()
    server.otherwise((response, request) =>
      ok(entry(request.path.split('/').at(-1) ?? ''), {}, { 'x-ratelimit-limit': '2' })(response, request),
    )
    const { files } = testClient({ baseUrl: server.baseUrl, plan: 'free' })
    await files.get(ref('a'))
    await files.get(ref('b'))
    expect(await errorOf(files.get(ref('c')))).toBeInstanceOf(LocalRateLimitError)
  })
})
