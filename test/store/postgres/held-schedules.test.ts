import { expect, test } from 'vitest'
import { SchedulerBench } from '../../schedule/support/scheduler-bench.ts'
import { saveLine } from '../../support/lines.ts'
import { openTwo } from './support/open-two.ts'

test('a schedule that another session has is looked at now and then, and run once it is free', async () => {
  const { one, session } = await openTwo()
  let looks = 0
  const listDueSchedules: typeof one.listDueSchedules = (...given) => {
    looks += 1
    // A scheduler that never rests would look again and again.
    if (looks > 20) throw new Error('it spins')
    return one.listDueSchedules(...given)
  }
  const bench = new SchedulerBench('2026-05-01T12:00Z', { store: one, through: { listDueSchedules } })
  await bench.start()
  await saveLine(one, 'other', bench.clock.now(), { line: '0 3 * * *' })
  await session.query('BEGIN')
  await session.query(`SELECT 1 FROM schedule WHERE id = 'nightly' FOR UPDATE`)

  looks = 0
  await bench.wakeAt('2026-05-02T03:00:00.000Z')
  expect(bench.heard('tick.recorded').map(({ schedule }) => schedule)).toEqual(['other'])
  await bench.wakeAt('2026-05-02T03:00:00.100Z')
  expect(bench.heard('tick.recorded')).toHaveLength(1)
  // Two that find it held, and one after each pause, whatever the other session takes.
  expect(looks).toBeLessThanOrEqual(6)

  await session.query('COMMIT')
  await bench.wakeAt('2026-05-02T03:00:00.200Z')
  expect(await bench.ticks()).toEqual(['2026-05-02T03:00Z'])
  expect(bench.heard('fault')).toEqual([])
})
