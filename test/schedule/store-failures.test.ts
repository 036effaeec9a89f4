import { expect, test } from 'vitest'
import { cron } from '../../src/author/cron.ts'
import { UpshotError } from '../../src/core/errors.ts'
import { isoTime } from '../../src/core/time.ts'
import { saveLine } from '../support/lines.ts'
import { SchedulerBench, type Through } from './support/scheduler-bench.ts'

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
