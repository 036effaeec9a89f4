import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../src/core/time.ts'
import { type LimiterStore, memoryLimiterStore } from '../../../src/files/index.ts'
import { decideStarts, WINDOW_MS } from '../../../src/files/limit/decide-start.ts'
import { SharedState } from '../../../src/files/limit/limiter-store.ts'

const LIMIT = 60

/** The starts of one process, which counts its writes to the store. */
function open({ limit = LIMIT, store = memoryLimiterStore(), clock = new ManualClock() } = {}) {
  let saves = 0
  const counting: LimiterStore = {
    load: (key) => store.load(key),
    async save(...given) {
      saves++
      return store.save(...given)
    },
  }
  const shared = new SharedState({ key: 'k', store: counting })
  const allowance = { starts: limit, windowMs: WINDOW_MS }
  const take = (wanted = 1) =>
    shared
      .update((state) => decideStarts(state, { now: clock.now(), allowance, wanted: Array<number>(wanted).fill(1) }))
      .then(({ decision }) => (decision.kind === 'start' ? decision.count : 0))
  return { take, saves: () => saves }
}

test('a process that can only wait writes nothing', async () => {
  const { take, saves } = open()
  await take(LIMIT)
  for (let look = 0; look < 10; look++) expect(await take()).toBe(0)
  expect(saves()).toBe(1)
})

test('three processes never start more than the limit in any 61 seconds, and use all of it', async () => {
  const wanted = fc.integer({ min: 0, max: 12 })
  const step = fc.record({ wanted: fc.tuple(wanted, wanted, wanted), laterMs: fc.nat(7_000) })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 50 }), async (steps) => {
      const store = memoryLimiterStore()
      const clock = new ManualClock()
      const processes = [0, 1, 2].map(() => open({ limit: 20, store, clock }))
      const started: number[] = []
      for (const { wanted, laterMs } of steps) {
        // At the same time, so that each finds what another one saves meanwhile.
        const counts = await Promise.all(processes.map(({ take }, at) => take(wanted[at])))
        for (const count of counts) for (let start = 0; start < count; start++) started.push(clock.now())
        clock.advance(laterMs)
      }
      const crowded = started.filter((at, index) => index >= 20 && at - (started[index - 20] ?? 0) < WINDOW_MS)
      expect(crowded).toEqual([])
      clock.advance(WINDOW_MS)
      expect(await processes[0]?.take(20)).toBe(20)
    }),
    { numRuns: 60 },
  )
})

test.each<[string, Partial<LimiterStore>, RegExp]>([
  ['whose save never says true', { save: async () => false }, /refused 1,000 saves in a row.*true where/],
  [
    'whose load forgets to parse',
    { load: async () => ({ state: '{}', version: 1 }) as never },
    /text: parse it as JSON/,
  ],
  ['whose load gives an empty state', { load: async () => ({ state: {}, version: 1 }) as never }, /but object/],
])('a store %s fails the call with the rule that it breaks, instead of hanging', async (_how, broken, message) => {
  const { take } = open({ store: { ...memoryLimiterStore(), ...broken } })
  await expect(take()).rejects.toMatchObject({ code: 'invalid_config', message: expect.stringMatching(message) })
})

test('each key has a limit of its own', async () => {
  const store = memoryLimiterStore()
  const take = (key: string) =>
    new SharedState({ key, store }).update((state) =>
      decideStarts(state, { now: 0, allowance: { starts: 1, windowMs: WINDOW_MS }, wanted: [1] }),
    )
  expect((await take('one')).decision).toMatchObject({ kind: 'start' })
  expect((await take('one')).decision).toMatchObject({ kind: 'wait' })
  expect((await take('other')).decision).toMatchObject({ kind: 'start' })
})
