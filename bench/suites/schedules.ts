import { join } from 'node:path'
import { judge, median, type Result } from '../report/result.ts'
import type { Fired } from '../targets/schedules.ts'
import type { Bench, Suite } from './suite.ts'

/** A second in which a thousand of a hundred thousand schedules are due, with two schedulers. */
export const schedules: Suite = {
  names: ['schedules.dueMs', 'schedules.doubled'],
  run: runSchedules,
}

async function runSchedules(bench: Bench): Promise<Result[]> {
  const due = 1_000
  const fired: Fired[] = []
  await using target = bench.startTarget('schedules.ts')
  await target.call('open', { file: join(bench.folder, 'schedules.db'), others: 100_000 })
  for (let round = 0; round < 3; round++) {
    await bench.patience.waitForCalm()
    fired.push(await target.call<Fired>('fire', due))
  }
  await target.call('close', null)
  bench.say(`  ${due} of 101,000 schedules due at one moment, two schedulers`)
  const doubled = fired.reduce((sum, { told, runs }) => sum + Math.abs(told - due) + Math.abs(runs - due), 0)
  return [
    judge('schedules.dueMs', median(fired.map(({ ms }) => ms)), 'ms', { atMost: 2_000 }),
    judge('schedules.doubled', doubled, 'ticks', { atMost: 0 }),
  ]
}
