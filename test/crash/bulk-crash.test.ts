import { expect, test } from 'vitest'
import { ManualClock } from '../../src/core/time.ts'
import {
  doomStore,
  makeEvents,
  makeRuns,
  planCancel,
  planReplay,
  startRunner,
  workUntilOver,
} from '../admin/support/bulk.ts'
import { openTestStore } from '../support/test-store.ts'

const NOW = Date.UTC(2026, 10, 22, 12)
const RUNS = 20_000
const DEATHS = 20

test('an operation over 20,000 runs whose process dies 20 times ends with each run done once', async () => {
  const store = openTestStore()
  const clock = new ManualClock(NOW)
  makeRuns(store.folder, RUNS, 'pending', NOW - 1_000)
  const plan = planCancel(NOW)
  await store.startBulk(plan)
  for (let death = 0; death < DEATHS; death++) {
    const calls = 1 + Math.floor(Math.random() * 30)
    const doomed = doomStore(store, calls, death % 2 === 0 ? 'before' : 'after')
    startRunner(doomed.store, clock)
    let isDead = false
    void doomed.dead.then(() => {
      isDead = true
    })
    while (!isDead) {
      clock.advance(50)
      await new Promise((resolve) => setImmediate(resolve))
    }
    clock.advance('10s')
  }
  const last = startRunner(store, clock)
  await workUntilOver(store, clock, plan.id)
  await last.stop()
  expect(await store.findBulk(plan.id)).toMatchObject({
    status: 'done',
    done: RUNS,
    refused: 0,
    count: { total: RUNS },
  })
  const rows = await store.listActions({ limit: 2 * RUNS, action: 'run.cancel' })
  expect([rows.length, new Set(rows.map(({ target }) => target)).size]).toEqual([RUNS, RUNS])
  expect(await store.listRuns({ limit: 1, status: 'pending' })).toEqual([])
})

test('another process goes on after a death at any store call, and no run is done twice or left', async () => {
  const whole = openTestStore()
  makeRuns(whole.folder, 230, 'pending', NOW - 1_000)
  const counted = doomStore(whole, Infinity, 'before')
  const first = planCancel(NOW)
  await whole.startBulk(first)
  const clock = new ManualClock(NOW)
  const runner = startRunner(counted.store, clock)
  await workUntilOver(whole, clock, first.id)
  await runner.stop()
  for (let call = 1; call <= counted.calls(); call++) {
    for (const moment of ['before', 'after'] as const) {
      const store = openTestStore()
      const clock = new ManualClock(NOW)
      makeRuns(store.folder, 230, 'pending', NOW - 1_000)
      const plan = planCancel(NOW)
      await store.startBulk(plan)
      const doomed = doomStore(store, call, moment)
      startRunner(doomed.store, clock)
      for (let turn = 0; turn < 200; turn++) {
        clock.advance(10)
        await new Promise((resolve) => setImmediate(resolve))
      }
      clock.advance('10s')
      const next = startRunner(store, clock)
      await workUntilOver(store, clock, plan.id)
      await next.stop()
      expect([call, moment, await store.findBulk(plan.id)]).toMatchObject([call, moment, { done: 230, refused: 0 }])
      const rows = await store.listActions({ limit: 1_000, action: 'run.cancel' })
      expect([rows.length, new Set(rows.map(({ target }) => target)).size]).toEqual([230, 230])
    }
  }
})

test('a replay whose process dies at any store call makes the runs of each event once', async () => {
  const events = 120
  const whole = openTestStore()
  await makeEvents(whole, events, NOW - 1)
  const counted = doomStore(whole, Infinity, 'before')
  const first = planReplay(NOW)
  await whole.startBulk(first)
  const clock = new ManualClock(NOW)
  const runner = startRunner(counted.store, clock)
  await workUntilOver(whole, clock, first.id)
  await runner.stop()
  for (let call = 1; call <= counted.calls(); call++) {
    for (const moment of ['before', 'after'] as const) {
      const store = openTestStore()
      const clock = new ManualClock(NOW)
      await makeEvents(store, events, NOW - 1)
      const plan = planReplay(NOW)
      await store.startBulk(plan)
      const doomed = doomStore(store, call, moment)
      startRunner(doomed.store, clock)
      for (let turn = 0; turn < 200; turn++) {
        clock.advance(10)
        await new Promise((resolve) => setImmediate(resolve))
      }
      clock.advance('10s')
      const next = startRunner(store, clock)
      await workUntilOver(store, clock, plan.id)
      await next.stop()
      expect([call, moment, await store.findBulk(plan.id)]).toMatchObject([call, moment, { done: events, refused: 0 }])
      const runs = await store.listRuns({ limit: 1_000, origin: 'replay' })
      const each = runs.map(({ eventId, workflow }) => `${eventId} ${workflow}`)
      expect([each.length, new Set(each).size]).toEqual([2 * events, 2 * events])
      expect(await store.listActions({ limit: 1_000, action: 'event.replay' })).toHaveLength(events)
    }
  }
})
