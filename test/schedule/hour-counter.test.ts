import { expect, onTestFinished, vi } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import { ManualClock, systemClock } from '../../src/core/time.ts'
import { countDueHours, HourCounter } from '../../src/schedule/hour-counter.ts'
import { makeRuns } from '../admin/support/bulk.ts'
import { incoming } from '../support/fixtures.ts'
import { openTestStore, test } from '../support/test-store.ts'

const HOUR = 3_600_000
const NOON = Date.UTC(2026, 10, 22, 12)

test('each hour that is over is counted once, and again after one of its runs ends later', async ({ store }) => {
  const failed = makeRuns(store.folder, 3, 'failed', NOON + 1_000)
  makeRuns(store.folder, 2, 'pending', NOON + HOUR + 1_000)
  await store.saveDelivery(incoming('evt_1', { id: newId('dlv', NOON + 10), receivedAt: NOON + 10, workflows: [] }))
  expect(await countDueHours(store, NOON + 2 * HOUR + 1)).toBe(2)
  expect(await countDueHours(store, NOON + 2 * HOUR + 1)).toBe(0)
  const hour = NOON / HOUR
  expect(await store.listRunHours({ since: NOON })).toEqual([
    { hour, workflow: 'w', status: 'failed', runs: 3, p50Ms: 0, p95Ms: 0 },
    { hour: hour + 1, workflow: 'w', status: 'pending', runs: 2, p50Ms: null, p95Ms: null },
  ])
  expect(await store.listDeliveryHours(NOON)).toMatchObject([{ hour, verdict: 'accepted', deliveries: 1 }])

  // Runs of an hour that is counted are marked by their next end.
  await store.retryRun(failed[0] ?? '', NOON + 2 * HOUR)
  await store.cancelRun(failed[0] ?? '', 'a test', NOON + 2 * HOUR)
  expect(await countDueHours(store, NOON + 2 * HOUR + 2)).toBe(1)
  expect(await store.listRunHours({ since: NOON, workflow: 'w' })).toMatchObject([
    { hour, status: 'canceled', runs: 1 },
    { hour, status: 'failed', runs: 2 },
    { hour: hour + 1, status: 'pending', runs: 2 },
  ])
})

test('a counter that is stopped while it counts writes the hour that it is at, and no other', async ({ store }) => {
  makeRuns(store.folder, 1, 'failed', NOON)
  makeRuns(store.folder, 1, 'failed', NOON + HOUR)
  const clock = new ManualClock(NOON + 3 * HOUR)
  const saved: number[] = []
  const reached = Promise.withResolvers<Promise<void>>()
  const saveHour: typeof store.saveHour = async (due, counted) => {
    saved.push(due.hour)
    reached.resolve(counter.stop())
    return store.saveHour(due, counted)
  }
  const counter = new HourCounter({ store: { ...store, saveHour }, clock, publish: () => {} })
  counter.start()
  await await reached.promise
  expect(saved).toHaveLength(1)
  expect(clock.nextAt()).toBeNull()
})

test('a clock that is set back by a day stops the counting for no day', async () => {
  vi.useFakeTimers({ now: NOON })
  onTestFinished(() => void vi.useRealTimers())
  let looks = 0
  const store = {
    findDueHour: async () => {
      looks++
      return null
    },
    readSubjects: async () => null,
    listMatchCursors: async () => ({ newest: new Map() }),
  }
  const counter = new HourCounter({ store: store as never, clock: systemClock, publish: () => {} })
  onTestFinished(() => counter.stop())
  counter.start()
  await vi.advanceTimersByTimeAsync(1)
  vi.setSystemTime(NOON - 86_400_000)
  await vi.advanceTimersByTimeAsync(600_000)
  expect(looks).toBe(11)
})

test('an hour that is counted early, for one of its runs ended later, does not pass over those before it', async () => {
  const store = openTestStore()
  makeRuns(store.folder, 1, 'pending', NOON)
  expect(await countDueHours(store, NOON + HOUR)).toBe(1)
  // Nothing counts for a while, and a run of the last of these hours ends in the next one.
  const hour = NOON / HOUR
  makeRuns(store.folder, 2, 'failed', NOON + HOUR + 1_000)
  const [last] = makeRuns(store.folder, 1, 'pending', NOON + 2 * HOUR + 1_000)
  await store.cancelRun(last ?? '', 'a test', NOON + 3 * HOUR)
  await countDueHours(store, NOON + 4 * HOUR)
  expect(await store.listRunHours({ since: NOON + HOUR })).toMatchObject([
    { hour: hour + 1, status: 'failed', runs: 2 },
    { hour: hour + 2, status: 'canceled', runs: 1 },
  ])
})

test('hours that a clock counted while it was a week ahead are counted again', async ({ store }) => {
  makeRuns(store.folder, 1, 'pending', NOON + 1_000)
  await countDueHours(store, NOON + 168 * HOUR)
  makeRuns(store.folder, 2, 'failed', NOON + HOUR + 1_000)
  await countDueHours(store, NOON + HOUR + 60_000)
  const { items } = await store.searchRuns({ workflow: 'w' }, { rows: 100, limit: 100, after: null })
  expect(items).toHaveLength(3)
  await countDueHours(store, NOON + 2 * HOUR)
  expect(await store.listRunHours({ since: NOON + HOUR })).toMatchObject([{ hour: NOON / HOUR + 1, runs: 2 }])
})

test('an hour that cannot be counted holds up no index of subjects and no shapes', async ({ store }) => {
  await store.saveDelivery(incoming('evt_1', { workflows: [] }))
  const clock = new ManualClock(NOON)
  const faults: unknown[] = []
  const findDueHour = () => Promise.reject(new Error('a damaged row'))
  const publish = (notice: { kind: string; where?: string }) => void faults.push(notice.where)
  const counter = new HourCounter({ store: { ...store, findDueHour }, clock, publish })
  counter.start()
  while (clock.nextAt() === null) await new Promise((resolve) => setImmediate(resolve))
  await counter.stop()
  expect(faults).toEqual(['counting hours'])
  expect(await store.readSubjects(10)).toBeNull()
  expect(await store.loadShapeBook()).not.toBeNull()
})
