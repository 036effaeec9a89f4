import { judge, type Result } from '../report/result.ts'
import type { Bench, Suite } from './suite.ts'

/** The price of counting, and of answering a scrape. */
export const metrics: Suite = { names: ['metrics.microsPerRun', 'metrics.scrapeMs'], run: runMetrics }

/** Series of the measured scrape. */
const SERIES = 2_000

async function runMetrics(bench: Bench): Promise<Result[]> {
  await using target = bench.startTarget('metrics.ts')
  await bench.patience.waitForCalm()
  const micros = await target.call<number>('microsPerRun', bench.isQuick ? 100_000 : 1_000_000)
  const scrape = await target.call<number>('scrapeMs', SERIES)
  bench.say(`  ${micros.toFixed(2)} µs a run, ${scrape.toFixed(1)} ms a scrape of ${SERIES} series`)
  return [
    judge('metrics.microsPerRun', micros, 'µs', { atMost: 1.5 }),
    judge('metrics.scrapeMs', scrape, 'ms', { atMost: 10 }),
  ]
}
