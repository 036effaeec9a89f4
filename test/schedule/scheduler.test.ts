import { expect, onTestFinished, test, vi } from 'vitest'
import { cron } from '../../src/author/cron.ts'
import { UpshotError } from '../../src/core/errors.ts'
import { planCron } from '../../src/core/service/plan-schedule.ts'
import type { Store } from '../../src/core/store/store.ts'
import { isoTime, systemClock } from '../../src/core/time.ts'
import { Scheduler } from '../../src/schedule/scheduler.ts'
import { saveLine } from '../support/lines.ts'
import { openTestStore } from '../support/test-store.ts'
import { SchedulerBench, type Through } from './support/scheduler-bench.ts'

test('a schedule records a tick and its run at each moment and publishes both', async () => {
  const bench = new SchedulerBench('2026-05-01T12:00Z')
  await bench.start()
  await bench.wakeAt('2026-05-02T03:00:00.004Z')
  await bench.wakeAt('2026-05-03T03:00:00.002Z')
  expect(await bench.ticks()).toEqual(['2026-05-02T03:00Z', '2026-05-03T03:00Z'])
  expect(bench.heard('tick.recorded').map(({ missed }) => missed)).toEqual([0, 0])
  expect(bench.heard('run.queued')).toEqual([
    { kind: 'run.queued', count: 1 },
    { kind: 'run.queued', count: 1 },
  ])
  const runs = await bench.store.listRuns({ limit: 9 })
  expect(runs.map((run) => run.id).sort()).toEqual(
    bench
      .heard('tick.recorded')
      .map(({ run }) => run)
      .sort(),
  )
})

test('a line that is added, changed or gone is followed from the next look on', async () => {
  const bench = new SchedulerBench('2026-05-01T12:00Z')
  await bench.start()
  await saveLine(bench.store, 'noon', bench.clock.now(), { line: '0 12 * * *' })
  await bench.wakeAt('2026-05-02T03:00Z')
  const workflows = [{ id: 'noon', file: 'noon.ts', eventTypes: [], schedule: cron('0 12 * * *') }]
  await bench.store.saveWorkflows({ workflows, broken: [] }, bench.clock.now())
  await bench.wakeAt('2026-05-02T12:00Z')
  await bench.wakeAt('2026-05-03T04:00Z')
  expect(await bench.ticks()).toEqual(['2026-05-02T03:00Z'])
  expect(bench.heard('tick.recorded').map(({ workflow }) => workflow)).toEqual(['nightly', 'noon'])
})

test('a stop waits for the write under way and lets none follow', async () => {
  const before = new SchedulerBench('2026-05-01T12:00Z', { catchUp: 'all', within: '7d' })
  await before.start()
  await before.scheduler.stop()
  const entered = Promise.withResolvers<void>()
  const latch = Promise.withResolvers<void>()
  const recordTick: Store['recordTick'] = async (...given) => {
    entered.resolve()
    await latch.promise
    return before.store.recordTick(...given)
  }
  const options = { store: before.store, catchUp: 'all', within: '7d', through: { recordTick } } as const
  const bench = new SchedulerBench('2026-05-04T12:00Z', options)
  bench.scheduler.start()
  await entered.promise
  let isStopped = false
  const stop = bench.scheduler.stop().then(() => {
    isStopped = true
  })
  await new Promise(setImmediate)
  expect(isStopped).toBe(false)
  latch.resolve()
  await stop
  expect(await bench.ticks()).toEqual(['2026-05-02T03:00Z'])
})

test('a clock that is set back runs no moment twice', async () => {
  const bench = new SchedulerBench('2026-05-01T12:00Z')
  await bench.start()
  await bench.wakeAt('2026-05-02T03:00Z')
  bench.clock.set(Date.parse('2026-05-02T02:00Z'))
  await bench.wakeAt('2026-05-03T03:00Z')
  expect(await bench.ticks()).toEqual(['2026-05-02T03:00Z', '2026-05-03T03:00Z'])
})

test('a clock that is set back while the process is down runs no moment twice', async () => {
  const before = new SchedulerBench('2026-05-01T12:00Z')
  await before.start()
  await before.wakeAt('2026-05-02T03:00Z')
  await before.scheduler.stop()
  const after = new SchedulerBench('2026-05-02T02:00Z', { store: before.store })
  await after.start()
  await after.wakeAt('2026-05-02T03:00Z')
  expect(await after.ticks()).toEqual(['2026-05-02T03:00Z'])
  expect(after.heard('tick.recorded')).toEqual([])
})

test('a clock that was years ahead and is corrected during a sleep does not block the schedule', async () => {
  // The system's clock itself: its timers count what passes, whatever it shows.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: Date.parse('2038-01-19T00:00Z') })
  onTestFinished(() => void vi.useRealTimers())
  const store = openTestStore()
  const recorded = Promise.withResolvers<number>()
  await saveLine(store, 'nightly', Date.now(), { line: '0 3 1 * *' })
  let rest = Promise.withResolvers<void>()
  const scheduler = new Scheduler({
    store,
    clock: { now: systemClock.now, at: systemClock.at },
    publish: (notice) => (notice.kind === 'tick.recorded' ? recorded.resolve(notice.scheduledFor) : undefined),
    onRest: () => rest.resolve(),
  })
  onTestFinished(() => scheduler.stop())
  scheduler.start()
  await rest.promise
  for (const moment of ['2026-06-01T02:59:10Z', '2026-06-01T02:59:59.500Z']) {
    rest = Promise.withResolvers<void>()
    vi.setSystemTime(Date.parse(moment))
    vi.advanceTimersByTime(1_000)
    await rest.promise
  }
  expect(isoTime(await recorded.promise)).toBe('2026-06-01T03:00:00.000Z')
})

test('a line with seconds that was away for five days lets other work go on while it counts', async () => {
  const before = new SchedulerBench('2026-05-01T12:00Z', { line: '* * * * * *' })
  await before.start()
  await before.scheduler.stop()
  const after = new SchedulerBench('2026-05-06T12:00Z', { line: '* * * * * *', store: before.store })
  let turns = 0
  const turn = () => {
    turns += 1
    turning = setImmediate(turn)
  }
  let turning = setImmediate(turn)
  await after.start()
  clearImmediate(turning)
  // Of 432,000 moments, those within the window of a day count.
  expect(turns).toBeGreaterThan(40)
  expect(after.heard('tick.recorded')).toHaveLength(1)
})

/** At noon of the tenth of May, a nightly line whose first three days of May are to be filled. */
async function openBackfill(perMinute: number) {
  const bench = new SchedulerBench('2026-05-10T12:00Z')
  const line = planCron('0 3 * * *', { overlap: 'allow' })
  const made = { owner: 'person', madeBy: 'ann', workflow: 'nightly' } as const
  await bench.store.addSchedule({ ...made, id: 'sch_1', name: 'acme', plan: line, input: '{}' }, bench.clock.now())
  const stretch = { from: Date.parse('2026-05-01T00:00Z'), to: Date.parse('2026-05-04T00:00Z') }
  const plan = { kind: 'backfill', of: 'sch_1', line, ...stretch, perMinute } as const
  await bench.store.addSchedule({ ...made, id: 'sch_2', name: 'fill', plan, input: null }, bench.clock.now())
  return bench
}

test('a backfill makes the tick of each past moment once, at its rate, over a restart', async () => {
  const bench = await openBackfill(1)
  const byHand = { scheduledFor: Date.parse('2026-05-02T03:00Z'), missed: 0 }
  await bench.store.recordTick('sch_1', byHand, bench.clock.now(), { isManual: true })
  await bench.start()
  expect(await bench.ticks()).toEqual(['2026-05-01T03:00Z', '2026-05-02T03:00Z'])
  await bench.wakeAt('2026-05-10T12:00:30Z')
  expect(await bench.ticks()).toHaveLength(2)
  await bench.scheduler.stop()
  const again = new SchedulerBench('2026-05-10T12:01Z', { store: bench.store })
  await again.start()
  expect(await again.ticks()).toEqual(['2026-05-01T03:00Z', '2026-05-02T03:00Z', '2026-05-03T03:00Z'])
  await again.wakeAt('2026-05-10T12:02Z')
  expect(await again.store.findSchedule('fill')).toMatchObject({
    nextAt: null,
    skipped: 1,
    doneAt: Date.parse('2026-05-10T12:02Z'),
  })
})

test('two schedulers together keep to the rate of a backfill', async () => {
  const bench = await openBackfill(1)
  const other = new SchedulerBench('2026-05-10T12:00Z', { store: bench.store })
  await Promise.all([bench.start(), other.start()])
  expect(await bench.ticks()).toHaveLength(1)
  await Promise.all([bench, other].map((each) => each.wakeAt('2026-05-10T12:01Z')))
  expect(await bench.ticks()).toHaveLength(2)
  expect(await bench.store.findSchedule('fill')).toMatchObject({ skipped: 0 })
})

test('a backfill whose schedule is removed ends, and tells how many moments got no run', async () => {
  const bench = await openBackfill(1)
  await bench.start()
  await bench.store.removeSchedule({ id: 'sch_1', name: 'nightly' })
  await bench.wakeAt('2026-05-10T12:01Z')
  expect(await bench.store.findSchedule('fill')).toMatchObject({ nextAt: null, missed: 2, skipped: 0 })
  expect(bench.heard('ticks.missed')).toMatchObject([{ schedule: 'fill', count: 2 }])
})

test('a backfill keeps to a rate by which no minute can be divided', async () => {
  const bench = await openBackfill(7)
  await bench.start()
  expect(await bench.ticks()).toHaveLength(1)
  await bench.wakeAt('2026-05-10T12:00:09Z')
  expect(await bench.ticks()).toHaveLength(2)
  expect(bench.notices.filter(({ kind }) => kind === 'fault')).toEqual([])
})

const failure = () => Promise.reject(new UpshotError('store_unavailable', 'the disk is full'))

test('a failing store is retried after pauses of up to 30 s, and no moment is lost', async () => {
  const through: Through = { listDueSchedules: failure }
  const bench = new SchedulerBench('2026-05-01T12:00Z', { through })
  const pauses: number[] = []
  await bench.start()
  for (let attempt = 0; attempt < 7; attempt++) {
    const [now, next] = [bench.clock.now(), bench.clock.nextAt() ?? 0]
    pauses.push((next - now) / 1_000)
    await bench.wakeAt(isoTime(next))
  }
  expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30])
  expect(bench.heard('fault')[0]).toMatchObject({
    where: 'schedules',
    error: { message: 'the disk is full' },
  })
  delete through.listDueSchedules
  await bench.wakeAt(isoTime(bench.clock.nextAt() ?? 0))
  await bench.wakeAt('2026-05-02T03:00Z')
  expect(await bench.ticks()).toEqual(['2026-05-02T03:00Z'])

  through.recordTick = failure
  await bench.wakeAt('2026-05-03T03:00Z')
  expect(isoTime(bench.clock.nextAt() ?? 0)).toBe('2026-05-03T03:00:01.000Z')
})

test('a store that fails during a catch-up gets the remaining moments at the next try', async () => {
  const through: Through = {}
  const bench = new SchedulerBench('2026-05-01T12:00Z', { through, catchUp: 'all', within: '7d' })
  await bench.start()
  through.recordTick = (workflow, tick, now) =>
    tick.scheduledFor > Date.parse('2026-05-02T12:00Z') ? failure() : bench.store.recordTick(workflow, tick, now)
  await bench.wakeAt('2026-05-04T12:00Z')
  expect(await bench.ticks()).toEqual(['2026-05-02T03:00Z'])
  delete through.recordTick
  await bench.wakeAt('2026-05-04T12:00:01Z')
  expect(await bench.ticks()).toEqual(['2026-05-02T03:00Z', '2026-05-03T03:00Z', '2026-05-04T03:00Z'])
  expect(bench.heard('tick.recorded')).toHaveLength(3)
})

test('a schedule that fails does not delay another, and is tried again', async () => {
  const bench = new SchedulerBench('2026-05-01T12:00Z')
  await bench.start()
  const broken = { id: 'broken', file: 'b.ts', eventTypes: [], schedule: cron('0 25 * * *') }
  const others = await bench.store.listWorkflows()
  await bench.store.saveWorkflows({ workflows: [...others, broken], broken: [] }, bench.clock.now())
  await bench.wakeAt('2026-05-02T03:00Z')
  expect(bench.heard('fault')).toMatchObject([{ where: 'schedule of broken' }])
  expect(await bench.ticks()).toEqual(['2026-05-02T03:00Z'])
  await bench.wakeAt('2026-05-02T03:00:01Z')
  await bench.wakeAt('2026-05-02T03:00:02Z')
  expect(bench.heard('fault')).toHaveLength(2)
  await saveLine(bench.store, 'broken', bench.clock.now())
  await bench.wakeAt('2026-05-03T03:00Z')
  expect(
    bench
      .heard('tick.recorded')
      .map(({ schedule }) => schedule)
      .sort(),
  ).toEqual(['broken', 'nightly', 'nightly'])
})

test('a schedule that failed while the clock was a day ahead is tried again once it is right', async () => {
  const through: Through = { recordTick: failure }
  const bench = new SchedulerBench('2026-05-01T02:00Z', { through })
  await bench.start()
  await bench.wakeAt('2026-05-02T02:59Z')
  expect(bench.heard('fault')).toMatchObject([{ where: 'schedule of nightly' }])
  delete through.recordTick
  bench.clock.set(Date.parse('2026-05-01T03:01Z'))
  await bench.untilRestAfter(() => bench.scheduler.wake())
  expect(await bench.ticks()).toEqual(['2026-05-01T03:00Z'])
})
