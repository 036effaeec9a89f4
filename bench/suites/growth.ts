import { join } from 'node:path'
import type { BurstResult } from '../load/load-generator.ts'
import { prefillEvents } from '../prefill/prefill-events.ts'
import { type Goal, judge, type Result } from '../report/result.ts'
import { inTurn, measureRounds } from '../report/rounds.ts'
import { emptyStoreSender, freshSender } from './ingest-burst.ts'
import type { Bench, Suite } from './suite.ts'

const STORED = { once: 10_000, quick: 100_000, full: 1_000_000 }
const GOALS = { at1M: { atLeast: 0.9 } } as const satisfies Record<string, Goal>

/** Cost of a delivery with a million stored events: one process, two databases in turn. */
export const growth: Suite = {
  names: ['ingest.at1M', 'ingest.perSecondAt1M'],
  run: runGrowth,
}

async function runGrowth(bench: Bench): Promise<Result[]> {
  await using receiver = bench.startTarget('receiver.ts')
  const file = join(bench.folder, 'million.db')
  const begunAt = performance.now()
  const stored = STORED[bench.size]
  prefillEvents(file, stored)
  bench.say(`  ${stored} events prefilled in ${((performance.now() - begunAt) / 1_000).toFixed(1)} s`)

  const seconds = bench.isQuick ? 1 : 4
  const rivals = {
    empty: emptyStoreSender(bench, { receiver, file: join(bench.folder, 'empty.db'), commit: 'group' }),
    full: freshSender(bench, { receiver, file, commit: 'group' }),
  }
  for (const send of bench.isOnce ? [] : Object.values(rivals)) await send(bench.isQuick ? 3 : 5)
  const rounds = bench.quickRounds ?? { min: 9, max: 15 }
  const figures = await measureRounds(rounds, GOALS, async (round) => {
    await bench.patience.waitForCalm()
    const results: Partial<Record<keyof typeof rivals, BurstResult>> = {}
    for (const rival of inTurn(['empty', 'full'] as const, round)) results[rival] = await rivals[rival](seconds)
    return compare(bench, results as Record<keyof typeof rivals, BurstResult>)
  })
  return [
    judge('ingest.at1M', figures.at1M, 'ratio', GOALS.at1M),
    judge('ingest.perSecondAt1M', figures.perSecond, 'deliveries/s'),
  ]
}

function compare(bench: Bench, { empty, full }: Record<'empty' | 'full', BurstResult>) {
  const rate = ({ perSecond, p99Ms }: BurstResult) => `${Math.round(perSecond)}/s (p99 ${p99Ms.toFixed(1)} ms)`
  bench.say(`  with many events ${rate(full)}, empty ${rate(empty)}`)
  return { at1M: full.perSecond / empty.perSecond, perSecond: full.perSecond }
}
