import { expect } from 'vitest'
import { foreseeOperation } from '../../../src/admin/resources/operation-handlers.ts'
import { ManualClock } from '../../../src/core/time.ts'
import { openTestStore, test } from '../../support/test-store.ts'
import {
  cancelByRule,
  makeEvents,
  makeRuns,
  planCancel,
  planReplay,
  startRunner,
  workUntilOver,
} from '../support/bulk.ts'

const NOW = Date.UTC(2026, 10, 22, 12)

test('an operation cancels each run of its filter once, with an audit row, and leaves out newer runs', async () => {
  const store = openTestStore()
  const clock = new ManualClock(NOW)
  const runs = makeRuns(store.folder, 230, 'pending', NOW - 1_000)
  const plan = planCancel(NOW)
  await store.startBulk({ ...plan, filter: { ...plan.filter, before: runs.at(-5) ?? '' } })
  const runner = startRunner(store, clock)
  await workUntilOver(store, clock, plan.id)
  await runner.stop()
  expect(await store.findBulk(plan.id)).toMatchObject({ status: 'done', done: 225, refused: 0, count: { total: 225 } })
  const rows = await store.listActions({ limit: 1_000, action: 'run.cancel' })
  expect(new Set(rows.map(({ target }) => target)).size).toBe(225)
  expect(new Set(rows.map(({ outcome }) => outcome))).toEqual(new Set(['done']))
  expect(await store.listActions({ limit: 10, action: 'operation.end' })).toMatchObject([
    { actor: 'web:ada', target: plan.id, parameters: { done: 225, refused: 0 } },
  ])
})

test('a dry run counts and does nothing, and a run that a retry cannot help is refused with the reason', async () => {
  const store = openTestStore()
  const clock = new ManualClock(NOW)
  const runs = makeRuns(store.folder, 12, 'failed', NOW - 1_000)
  const plan = planCancel(NOW, { kind: 'retry', filter: { workflow: 'w' } })
  const told: unknown[] = []
  const work = { signal: new AbortController().signal, tell: (far: unknown) => told.push(far) }
  const before = await foreseeOperation(store, plan, work)
  expect(told).toEqual([{ done: 12, total: null }])
  expect(before).toMatchObject({ total: 12, refused: 0, examples: { length: 12, 0: { about: 'w  failed' } } })
  expect((await store.listRuns({ limit: 100, status: 'failed' })).length).toBe(12)
  cancelByRule(store.folder, runs[3] ?? '')
  expect(await foreseeOperation(store, plan, work)).toMatchObject({
    total: 11,
    refused: 1,
    refusals: [{ target: runs[3] }],
  })
  expect([await store.listBulks({ limit: 1 }), await store.listActions({ limit: 1 })]).toEqual([[], []])
  await store.startBulk(plan)
  const runner = startRunner(store, clock)
  await workUntilOver(store, clock, plan.id)
  await runner.stop()
  expect(await store.findBulk(plan.id)).toMatchObject({ done: 11, refused: 1 })
  const why = expect.stringContaining('a rule of its workflow canceled it (too late)')
  expect(await store.listBulkRefusals(plan.id)).toEqual([{ target: runs[3], why }])
})

test('an operation that finds nothing in its first slices is over behind the last one, and says so once', async () => {
  const store = openTestStore()
  const clock = new ManualClock(NOW)
  makeRuns(store.folder, 5_000, 'failed', NOW - 1_000)
  const plan = planCancel(NOW, { kind: 'retry', filter: { workflow: 'w', error: 'of nobody' } })
  await store.startBulk(plan)
  const runner = startRunner(store, clock)
  await workUntilOver(store, clock, plan.id)
  await runner.stop()
  expect(await store.findBulk(plan.id)).toMatchObject({ status: 'done', done: 0, count: { total: 0 } })
  expect(await store.listActions({ limit: 10, action: 'operation.end' })).toMatchObject([{ target: plan.id }])
})

test('runs of a filter that an operation is not about are neither done nor refused, and leave no row', async () => {
  const store = openTestStore()
  const clock = new ManualClock(NOW)
  const [pending = ''] = makeRuns(store.folder, 1, 'pending', NOW - 2_000)
  makeRuns(store.folder, 240, 'failed', NOW - 1_000)
  const runner = startRunner(store, clock)
  for (const kind of ['cancel', 'resume', 'unresolve'] as const) {
    const plan = planCancel(clock.now(), { kind, filter: { workflow: 'w' } })
    await store.startBulk(plan)
    runner.wake()
    await workUntilOver(store, clock, plan.id)
    const done = kind === 'cancel' ? 1 : 0
    expect([kind, await store.findBulk(plan.id)]).toMatchObject([kind, { status: 'done', done, refused: 0 }])
  }
  await runner.stop()
  const rows = (await store.listActions({ limit: 1_000 })).filter(({ action }) => action.startsWith('run.'))
  expect(rows).toMatchObject([{ action: 'run.cancel', target: pending }])
})

test('operations resolve failed runs with the reason of the person, and take that back', async ({ store }) => {
  const clock = new ManualClock(NOW)
  const runs = makeRuns(store.folder, 130, 'failed', NOW - 1_000)
  const runner = startRunner(store, clock)
  const plan = planCancel(NOW, { kind: 'resolve', filter: { workflow: 'w' } })
  await store.startBulk(plan)
  runner.wake()
  await workUntilOver(store, clock, plan.id)
  expect(await store.findBulk(plan.id)).toMatchObject({ done: 130, refused: 0 })
  expect((await store.findRun(runs[0] ?? ''))?.resolution).toMatchObject({ by: 'web:ada', reason: 'a test' })
  expect(await store.listRuns({ resolved: true, limit: 1_000 })).toHaveLength(130)
  const undo = { ...plan, id: `${plan.id}a`, kind: 'unresolve', filter: { before: runs[30] ?? '' } } as const
  await store.startBulk(undo)
  runner.wake()
  await workUntilOver(store, clock, undo.id)
  await runner.stop()
  expect(await store.listRuns({ resolved: true, limit: 1_000 })).toHaveLength(100)
  expect(await store.listActions({ limit: 1_000, action: 'run.unresolve' })).toHaveLength(30)
})

test('a replay makes new runs of the events of its filter, oldest first, and leaves out newer ones', async () => {
  const store = openTestStore()
  const clock = new ManualClock(NOW)
  await makeEvents(store, 131, { now: NOW })
  const plan = planReplay(NOW)
  const foreseen = await foreseeOperation(store, plan, { signal: new AbortController().signal, tell: () => {} })
  expect(foreseen).toMatchObject({ total: 130, runs: 260, examples: { length: 20 } })
  expect(await store.listRuns({ limit: 1 })).toEqual([])
  await store.startBulk(plan)
  const runner = startRunner(store, clock)
  await workUntilOver(store, clock, plan.id)
  // 100 events a second.
  expect(clock.now()).toBeGreaterThanOrEqual(NOW + 1_000)
  await runner.stop()
  expect(await store.findBulk(plan.id)).toMatchObject({ status: 'done', done: 130, refused: 0 })
  const runs = (await store.listRuns({ limit: 1_000, origin: 'replay' })).toReversed()
  const order = runs.filter(({ workflow }) => workflow === 'one').map(({ eventId }) => eventId)
  expect(order).toEqual(Array.from({ length: 130 }, (_, index) => `evt_${index}`))
  expect(runs).toHaveLength(260)
})

test('a slow pace is even, and no other process takes the operation over in its pauses', async ({ store }) => {
  const clock = new ManualClock(NOW)
  makeRuns(store.folder, 60, 'failed', NOW - 1_000)
  const plan = planCancel(NOW, { kind: 'retry', filter: { workflow: 'w' }, perSecond: 3 })
  await store.startBulk(plan)
  const runners = [startRunner(store, clock), startRunner(store, clock)]
  const done: number[] = []
  while (done.at(-1) !== 60) {
    for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve))
    done.push((await store.findBulk(plan.id))?.done ?? 0)
    clock.advance(500)
  }
  for (const runner of runners) await runner.stop()
  const grown = done.map((count, index) => count - (done[index - 1] ?? 0))
  expect(Math.max(...grown)).toBe(3)
  expect(clock.now()).toBeGreaterThan(NOW + 19_000)
})

test('an aborted operation does nothing more', async ({ store }) => {
  const clock = new ManualClock(NOW)
  makeRuns(store.folder, 500, 'pending', NOW - 1_000)
  const plan = planCancel(NOW)
  await store.startBulk(plan)
  const runner = startRunner(store, clock)
  while ((await store.findBulk(plan.id))?.done === 0) await new Promise((resolve) => setImmediate(resolve))
  expect(await store.abortBulk(plan.id, NOW)).toBe(true)
  const done = (await store.findBulk(plan.id))?.done ?? 0
  clock.advance('1m')
  await runner.stop()
  expect(await store.findBulk(plan.id)).toMatchObject({ status: 'aborted', done })
  expect((await store.listRuns({ limit: 1_000, status: 'canceled' })).length).toBe(done)
})
