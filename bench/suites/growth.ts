import { join } from 'node:path'
import type { Bench, Suite } from '../bench.ts'
import { sendFreshRecords, sendToEmptyStore } from '../ingest-burst.ts'
import type { BurstResult } from '../load.ts'
import { prefill } from '../prefill.ts'
import { type Goal, judge, type Result } from '../result.ts'
import { inTurn, measureRounds } from '../rounds.ts'

const STORED = 1_000_000
const GOALS = { at1M: { atLeast: 0.9 } } as const satisfies Record<string, Goal>

/**
 * What a million stored events cost the next ones: one receiver, one process, two databases in
 * turn.
 */
export const growth: Suite = {
  names: ['ingest.at1M', 'ingest.perSecondAt1M'],
  run: runGrowth,
}

async function runGrowth(bench: Bench): Promise<Result[]> {
  await using receiver = bench.startTarget('receiver.ts')
  const file = join(bench.folder, 'million.db')
  const begunAt = performance.now()
  prefill(file, STORED)
  bench.say(`  ${STORED} events stored ahead in ${((performance.now() - begunAt) / 1_000).toFixed(1)} s`)

  const seconds = bench.isQuick ? 1 : 4
  const rivals = {
    empty: sendToEmptyStore(bench, { receiver, file: join(bench.folder, 'empty.db'), commit: 'group' }),
    full: sendFreshRecords(bench, { receiver, file, commit: 'group' }),
  }
  for (const send of Object.values(rivals)) await send(bench.isQuick ? 3 : 5)
  const rounds = bench.isQuick ? { least: 5, most: 9 } : { least: 9, most: 15 }
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
  bench.say(`  with a million ${rate(full)}, empty ${rate(empty)}`)
  return { at1M: full.perSecond / empty.perSecond, perSecond: full.perSecond }
}
