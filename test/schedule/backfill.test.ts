import { expect, test } from 'vitest'
import { planCron } from '../../src/core/service/plan-schedule.ts'
import { SchedulerBench } from './support/scheduler-bench.ts'

test('a backfill makes the tick of each past moment once, at its rate, over a restart', async () => {
  const bench = new SchedulerBench('2026-05-10T12:00Z')
  const at = Date.parse
  const line = planCron('0 3 * * *', { overlap: 'allow' })
  await bench.store.addSchedule(
    { id: 'sch_1', name: 'acme', owner: 'person', madeBy: 'ann', workflow: 'nightly', plan: line, input: '{}' },
    bench.clock.now(),
  )
  await bench.store.recordTick('sch_1', { scheduledFor: at('2026-05-02T03:00Z'), missed: 0 }, bench.clock.now(), {
    isManual: true,
  })
  await bench.store.addSchedule(
    {
      id: 'sch_2',
      name: 'fill',
      owner: 'person',
      madeBy: 'ann',
      workflow: 'nightly',
      input: null,
      plan: {
        kind: 'backfill',
        of: 'sch_1',
        line,
        from: at('2026-05-01T00:00Z'),
        to: at('2026-05-04T00:00Z'),
        perMinute: 1,
      },
    },
    bench.clock.now(),
  )
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
    doneAt: at('2026-05-10T12:02Z'),
  })
})

test('a backfill keeps to a rate by which no minute can be divided', async () => {
  const bench = new SchedulerBench('2026-05-10T12:00Z')
  const at = Date.parse
  const line = planCron('0 3 * * *', { overlap: 'allow' })
  const made = { owner: 'person', madeBy: 'ann', workflow: 'nightly' } as const
  await bench.store.addSchedule({ ...made, id: 'sch_1', name: 'acme', plan: line, input: '{}' }, bench.clock.now())
  const stretch = { from: at('2026-05-01T00:00Z'), to: at('2026-05-04T00:00Z') }
  const plan = { kind: 'backfill', of: 'sch_1', line, ...stretch, perMinute: 7 } as const
  await bench.store.addSchedule({ ...made, id: 'sch_2', name: 'fill', plan, input: null }, bench.clock.now())
  await bench.start()
  expect(await bench.ticks()).toHaveLength(1)
  await bench.wakeAt('2026-05-10T12:00:09Z')
  expect(await bench.ticks()).toHaveLength(2)
  expect(bench.notices.filter(({ kind }) => kind === 'fault')).toEqual([])
})
