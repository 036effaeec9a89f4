import { expect, onTestFinished, test, vi } from 'vitest'
import { isoTime, systemClock } from '../../src/core/time.ts'
import { Scheduler } from '../../src/schedule/scheduler.ts'
import { saveLine } from '../support/lines.ts'
import { openTestStore } from '../support/test-store.ts'
import { SchedulerBench } from './support/scheduler-bench.ts'

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
