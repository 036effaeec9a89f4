import { join } from 'node:path'
import { DATABASES } from '../processes/open-project.ts'
import type { StorePlace } from '../processes/open-store.ts'
import { judge, median, type Result } from '../report/result.ts'
import type { Fired } from '../targets/schedules.ts'
import { startServer } from './postgres/bench-server.ts'
import type { Bench, Suite } from './suite.ts'

/** A second in which a thousand of a hundred thousand schedules are due, with two schedulers. */
export const schedules: Suite = {
  names: ['schedules.dueMs', 'schedules.doubled', 'schedules.dueMsPostgres', 'schedules.doubledPostgres'],
  run: runSchedules,
}

const OTHERS = { once: 1_000, quick: 10_000, full: 100_000 }
const DUE = 1_000

async function runSchedules(bench: Bench): Promise<Result[]> {
  await using server = await startServer(bench)
  const results: Result[] = []
  for (const database of DATABASES) {
    const isServer = database === 'postgres'
    const place = isServer ? { urls: [server.url], schema: 'due' } : { file: join(bench.folder, 'schedules.db') }
    const fired = await fireOn(bench, place)
    const doubled = fired.reduce((sum, { told, runs }) => sum + Math.abs(told - DUE) + Math.abs(runs - DUE), 0)
    const suffix = isServer ? 'Postgres' : ''
    results.push(
      judge(`schedules.dueMs${suffix}`, median(fired.map(({ ms }) => ms)), 'ms', { atMost: 2_000 }),
      judge(`schedules.doubled${suffix}`, doubled, 'ticks', { atMost: 0 }),
    )
  }
  bench.say(`  ${DUE} of ${OTHERS[bench.size] + DUE} schedules due at one moment, two schedulers`)
  return results
}

async function fireOn(bench: Bench, place: StorePlace): Promise<Fired[]> {
  await using target = bench.startTarget('schedules.ts')
  await target.call('open', { place, others: OTHERS[bench.size] })
  const fired: Fired[] = []
  for (let round = 0; round < (bench.isOnce ? 1 : 3); round++) {
    await bench.patience.waitForCalm()
    fired.push(await target.call<Fired>('fire', DUE))
  }
  await target.call('close', null)
  return fired
}
