import { expect, test } from 'vitest'
import { cron } from '../../src/author/cron.ts'
import type { Store } from '../../src/core/store/store.ts'
import { saveLine } from '../support/lines.ts'
import { SchedulerBench } from './support/scheduler-bench.ts'

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
