import { expect, onTestFinished, test, vi } from 'vitest'
import { type Endpoint, planEndpoint, planRetirement, planRotation } from '../../src/core/incoming/endpoint.ts'
import type { Notice } from '../../src/core/notices.ts'
import { KEEP_ALL, type PruneSlice } from '../../src/core/store/retention.ts'
import type { Store } from '../../src/core/store/store.ts'
import { ManualClock, systemClock } from '../../src/core/time.ts'
import { computeSliceRows, Pruner, pruneStore } from '../../src/schedule/pruner.ts'
import { checkpoint, incoming, NOW, queueRun } from '../support/fixtures.ts'
import { openTestStore } from '../support/test-store.ts'

const DAY = 86_400_000

/** A store with `count` completed runs of three steps each. */
async function fillStore(count: number) {
  const store = openTestStore()
  for (let n = 0; n < count; n++) await queueRun(store, `evt_${n}`)
  const runs = await store.claimRuns('wrk_1', count, NOW)
  await Promise.all(
    runs.flatMap(({ lease }) => [
      ...[0, 1, 2].map((position) => store.saveCheckpoint(lease, checkpoint(`s${position}`, { position }))),
      store.completeRun(lease, 'null', NOW),
    ]),
  )
  return store
}

test('pruning asks for small slices, and for smaller ones where they take long', async () => {
  const store = await fillStore(600)
  const clock = new ManualClock(NOW + 8 * DAY)
  const limits: number[] = []
  const slow = {
    findUnmatchedSince: async () => null,
    pruneWeek: async () => null,
    prune(slice: PruneSlice) {
      limits.push(slice.limit)
      // A disk that soon needs 80 ms for whatever it is asked.
      clock.set(clock.now() + (limits.length > 2 ? 80 : 8))
      return store.prune(slice)
    },
  }
  const instant = {
    now: () => clock.now(),
    at: (moment: number, wake: () => void) => clock.at(Math.min(moment, clock.now()), wake),
  }
  const told: number[] = []
  const onPruned = (rows: number) => told.push(rows)
  const { runs } = await pruneStore({
    store: slow,
    clock: instant,
    retention: { ...KEEP_ALL, runs: 7 * DAY },
    onPruned,
  })
  expect(limits.slice(0, 5)).toEqual([400, 500, 625, 400, 400])
  expect([told.at(-1), told.length]).toEqual([runs, limits.length])
  expect(await store.listRuns({ limit: 9 })).toEqual([])
})

test.each([
  { rows: 1_000, tookMs: 0, next: 1_250 },
  { rows: 1_000, tookMs: 8, next: 1_250 },
  { rows: 1_000, tookMs: 16, next: 500 },
  // Each of a dozen messages may take some milliseconds on its way, however few rows it is about.
  { rows: 1_000, tookMs: 10_000, next: 400 },
  { rows: 2_000, tookMs: 1, next: 2_000 },
])('a slice of $rows rows that took $tookMs ms is followed by one of $next', ({ rows, tookMs, next }) => {
  expect(computeSliceRows(rows, tookMs)).toBe(next)
})

test('pruning lets deliveries in between any two slices', async () => {
  const store = await fillStore(300)
  const order: string[] = []
  const slices = {
    findUnmatchedSince: async () => null,
    pruneWeek: async () => null,
    async prune(slice: PruneSlice) {
      const progress = await store.prune(slice)
      order.push('slice')
      return progress
    },
  }
  let isOver = false
  const deliver = async () => {
    for (let n = 0; !isOver; n++) {
      await store.saveDelivery(incoming(`evt_new_${n}`, { receivedAt: NOW + 20 * DAY }))
      order.push('delivery')
    }
  }
  const delivering = deliver()
  const clock = { ...systemClock, now: () => NOW + 8 * DAY }
  await pruneStore({ store: slices, clock, retention: { ...KEEP_ALL, runs: 7 * DAY } })
  isOver = true
  await delivering
  expect(order.filter((what) => what === 'slice').length).toBeGreaterThan(2)
  expect(order.join(' ')).not.toContain('slice slice slice')
})

test('the pruner prunes a minute after the start and every hour, reports it, and stops between slices', async () => {
  const store = await fillStore(1)
  const clock = new ManualClock(NOW + 8 * DAY)
  await queueRun(store, 'evt_new', 'follow-up', clock.now() - 1)
  const heard: Notice[] = []
  const pruned = Promise.withResolvers<void>()
  const pruner = new Pruner({
    store,
    clock,
    retention: { ...KEEP_ALL, runs: 7 * DAY },
    publish(notice) {
      heard.push(notice)
      pruned.resolve()
    },
  })
  onTestFinished(() => pruner.stop())
  pruner.start()
  pruner.start()
  expect(clock.nextAt()).toBe(clock.now() + 60_000)
  clock.advance('1m')
  await pruned.promise
  expect(heard).toEqual([
    { kind: 'store.pruned', runs: 1, deliveries: 0, payloads: 0, audit: 0, effects: 0, files: 0, ms: 0 },
  ])
  await Promise.all([pruner.stop(), pruner.stop()])
  expect(clock.nextAt()).toBeNull()
})

/** Sets the clock to the moment of a round, and waits for its end. */
async function roundAt(clock: ManualClock, moment: number): Promise<void> {
  clock.set(moment)
  while (clock.nextAt() === null) await new Promise((resolve) => setImmediate(resolve))
}

/** Starts a pruner that keeps runs for a week; gives the number of runs that each round removes. */
function startCounted(store: Store, clock: ManualClock): readonly number[] {
  const rounds: number[] = []
  const counted = {
    ...store,
    async prune(slice: PruneSlice) {
      const progress = await store.prune(slice)
      if (slice.kind === 'runs') rounds.push(progress.pruned)
      return progress
    },
  }
  const pruner = new Pruner({ store: counted, clock, retention: { ...KEEP_ALL, runs: 7 * DAY }, publish() {} })
  onTestFinished(() => pruner.stop())
  pruner.start()
  return rounds
}

test('a clock that jumps a year ahead costs no more than a day of history an hour', async () => {
  const store = await fillStore(3)
  const clock = new ManualClock(NOW)
  const rounds = startCounted(store, clock)
  for (let hour = 0; hour < 9; hour++) {
    await roundAt(clock, NOW + 365 * DAY + hour * 3_600_000)
  }
  expect(rounds).toEqual([0, 0, 0, 0, 0, 0, 0, 3, 0])
})

test('a process that starts a year ahead removes no more than a day of history an hour', async () => {
  const store = await fillStore(3)
  await queueRun(store, 'evt_late', 'follow-up', NOW + DAY)
  const clock = new ManualClock(NOW + 365 * DAY)
  const rounds = startCounted(store, clock)
  // A row of the clock that is ahead proves nothing.
  await queueRun(store, 'evt_ahead', 'follow-up', clock.now())
  for (let hour = 1; hour < 9; hour++) {
    await roundAt(clock, NOW + 365 * DAY + hour * 3_600_000)
  }
  expect(rounds).toEqual([0, 0, 0, 0, 0, 0, 3, 0])
})

test('a process that starts in 1970 prunes as ever once its clock is right', async () => {
  const store = await fillStore(3)
  await queueRun(store, 'evt_late', 'follow-up', NOW + 8 * DAY - 1)
  const clock = new ManualClock(0)
  const heard: Notice[] = []
  const retention = { ...KEEP_ALL, runs: 7 * DAY }
  const pruner = new Pruner({ store, clock, retention, publish: (notice) => heard.push(notice) })
  onTestFinished(() => pruner.stop())
  pruner.start()
  for (const moment of [60_000, NOW + 8 * DAY]) {
    expect(heard).toEqual([])
    await roundAt(clock, moment)
  }
  expect(heard).toMatchObject([{ kind: 'store.pruned', runs: 3 }])
})

test('the pruner reports a store that fails and tries again an hour later', async () => {
  const clock = new ManualClock(NOW)
  const heard: Notice[] = []
  let tries = 0
  let tried = Promise.withResolvers<void>()
  const pruner = new Pruner({
    store: {
      findUnmatchedSince: async () => null,
      pruneWeek: async () => null,
      pruneSchedules: async () => 0,
      prune: () => Promise.reject(new Error(`the disk is full, ${++tries}`)),
      listEndpoints: async () => [],
      updateEndpoint: async () => {},
      listRuns: async () => [],
      listDeliveries: async () => [],
    },
    clock,
    retention: { ...KEEP_ALL, runs: DAY },
    publish(notice) {
      heard.push(notice)
      tried.resolve()
    },
  })
  onTestFinished(() => pruner.stop())
  pruner.start()
  clock.advance('1m')
  await tried.promise
  tried = Promise.withResolvers()
  await new Promise(setImmediate)
  clock.advance('1h')
  await tried.promise
  expect(heard).toMatchObject([1, 2].map((n) => ({ kind: 'fault', error: { message: `the disk is full, ${n}` } })))
})

test('a clock that is set forward during a slice, or back after a round, delays no round', async () => {
  vi.useFakeTimers({ now: NOW })
  onTestFinished(() => void vi.useRealTimers())
  let rounds = 0
  const store = {
    listEndpoints: async () => [],
    listRuns: async () => [],
    listDeliveries: async () => [],
    pruneSchedules: async () => 0,
    findUnmatchedSince: async () => null,
    pruneWeek: async () => null,
    async prune({ after }: PruneSlice) {
      if (after !== null) return { pruned: 0, next: null }
      rounds++
      vi.setSystemTime(Date.now() + 365 * DAY)
      return { pruned: 0, next: 'more' }
    },
  }
  const retention = { ...KEEP_ALL, runs: 7 * DAY }
  const pruner = new Pruner({ store: store as never, clock: systemClock, retention, publish() {} })
  onTestFinished(() => pruner.stop())
  pruner.start()
  await vi.advanceTimersByTimeAsync(120_000)
  vi.setSystemTime(NOW)
  await vi.advanceTimersByTimeAsync(2 * 3_660_000)
  expect(rounds).toBe(3)
})

test('the pruner removes a retired secret from the database 30 days after its retirement', async () => {
  const store = openTestStore()
  const clock = new ManualClock(NOW)
  const first = planEndpoint({ name: 'main' }, NOW)
  await store.addEndpoint(first)
  const rotated = planRotation(first, 'the-second-secret-of-them-all', { overlapMs: 1_000, now: NOW })
  await store.updateEndpoint(planRetirement(rotated, NOW))
  const positions = async () => (await store.listSecretUses(first.id)).map(({ position }) => position)
  const updated = Promise.withResolvers<void>()
  const watched = {
    ...store,
    async updateEndpoint(...given: Parameters<typeof store.updateEndpoint>) {
      await store.updateEndpoint(...given)
      updated.resolve()
    },
  }
  expect(await positions()).toEqual([0, 1])
  clock.advance('30d')
  const pruner = new Pruner({ store: watched, clock, retention: KEEP_ALL, publish: () => {} })
  pruner.start()
  clock.advance('1m')
  await updated.promise
  expect(await positions()).toEqual([1])
  await pruner.stop()
})

test.each([
  ['changes', (store: Store, endpoint: Endpoint) => store.updateEndpoint({ ...endpoint, name: 'renamed' })],
  ['removes', (store: Store, endpoint: Endpoint) => store.removeEndpoint(endpoint, NOW)],
])('a person who %s an endpoint with a retired secret meanwhile disturbs no round', async (_what, disturb) => {
  const store = await fillStore(1)
  const clock = new ManualClock(NOW)
  const first = planEndpoint({ name: 'main' }, NOW)
  await store.addEndpoint(first)
  const rotated = planRotation(first, 'the-second-secret-of-them-all', { overlapMs: 1_000, now: NOW })
  await store.updateEndpoint(planRetirement(rotated, NOW))
  clock.advance('30d')
  await queueRun(store, 'evt_new', 'follow-up', clock.now() - 1)
  const disturbed = {
    ...store,
    async listEndpoints() {
      const endpoints = await store.listEndpoints()
      for (const endpoint of endpoints) await disturb(store, endpoint)
      return endpoints
    },
  }
  const heard = Promise.withResolvers<Notice>()
  const retention = { ...KEEP_ALL, runs: 7 * DAY }
  const pruner = new Pruner({ store: disturbed, clock, retention, publish: heard.resolve })
  onTestFinished(() => pruner.stop())
  pruner.start()
  clock.advance('1m')
  expect(await heard.promise).toMatchObject({ kind: 'store.pruned', runs: 1 })
})
