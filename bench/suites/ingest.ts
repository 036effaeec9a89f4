import { join } from 'node:path'
import type { BurstResult } from '../load/load-generator.ts'
import { type Goal, judge, type Result } from '../report/result.ts'
import { inTurn, measureRounds } from '../report/rounds.ts'
import { CONNECTIONS, emptyStoreSender, sendWithoutStore } from './ingest-burst.ts'
import type { Bench, Suite } from './suite.ts'

const GOALS = {
  vsStorageFree: { atLeast: 0.55 },
  vsOneCommit: { atLeast: 3.5 },
  p99Ms: { atMost: 15 },
} as const satisfies Record<string, Goal>

/** Rate of the generator against a server without work, over that of the storage-free server. */
const HEADROOM: Goal = { atLeast: 1.3 }

const RIVALS = ['storageFree', 'groupCommit', 'oneCommit'] as const
type Rival = (typeof RIVALS)[number]
type Send = (seconds: number) => Promise<BurstResult>

/** Rate of accepted deliveries, against a server without a store and one commit per delivery. */
export const ingest: Suite = {
  names: [
    'ingest.vsStorageFree',
    'ingest.vsOneCommit',
    'ingest.p99Ms',
    'ingest.p50Ms',
    'ingest.perSecond',
    'ingest.storageFreePerSecond',
    'ingest.oneCommitPerSecond',
    'ingest.generatorHeadroom',
  ],
  run: runIngest,
}

async function runIngest(bench: Bench): Promise<Result[]> {
  // A process for each, because V8 would optimize shared code for both.
  await using grouped = bench.startTarget('receiver.ts')
  await using alone = bench.startTarget('receiver.ts')
  await using plain = bench.startTarget('storage-free.ts')
  const rivals: Record<Rival, Send> = {
    storageFree: sendWithoutStore(bench, await plain.call('start')),
    groupCommit: emptyStoreSender(bench, { receiver: grouped, file: join(bench.folder, 'group.db'), commit: 'group' }),
    oneCommit: emptyStoreSender(bench, { receiver: alone, file: join(bench.folder, 'each.db'), commit: 'each' }),
  }
  const seconds = bench.isQuick ? 1 : 5
  // Warm-up: a server is slow until V8 has compiled its code.
  for (const send of bench.isOnce ? [] : Object.values(rivals)) await send(bench.isQuick ? 3 : 5)
  const rounds = bench.quickRounds ?? { min: 9, max: 15 }
  const figures = await measureRounds(rounds, GOALS, async (round) => {
    await bench.patience.waitForCalm()
    const results: Partial<Record<Rival, BurstResult>> = {}
    for (const rival of inTurn(RIVALS, round)) results[rival] = await rivals[rival](seconds)
    return compare(bench, results as Record<Rival, BurstResult>)
  })
  return report(figures, await measureGenerator(bench))
}

type Figures = ReturnType<typeof compare>

function compare(bench: Bench, { storageFree, groupCommit, oneCommit }: Record<Rival, BurstResult>) {
  const rate = ({ perSecond, p99Ms }: BurstResult) => `${Math.round(perSecond)}/s (p99 ${p99Ms.toFixed(1)} ms)`
  bench.say(`  receiver ${rate(groupCommit)}, storage-free ${rate(storageFree)}, one commit each ${rate(oneCommit)}`)
  return {
    vsStorageFree: groupCommit.perSecond / storageFree.perSecond,
    vsOneCommit: groupCommit.perSecond / oneCommit.perSecond,
    p99Ms: groupCommit.p99Ms,
    p50Ms: groupCommit.p50Ms,
    perSecond: groupCommit.perSecond,
    storageFreePerSecond: storageFree.perSecond,
    oneCommitPerSecond: oneCommit.perSecond,
  }
}

async function measureGenerator(bench: Bench): Promise<number> {
  await using bare = bench.startTarget('bare.ts')
  const url = await bare.call<string>('start')
  const deliveries = { ...bench.deliveries, from: 0, count: bench.deliveries.count }
  const send = (seconds: number) => bench.load.send({ url, connections: CONNECTIONS, seconds, deliveries })
  await send(1)
  return (await send(1)).perSecond
}

function report(figures: Figures, generatorPerSecond: number): Result[] {
  return [
    judge('ingest.vsStorageFree', figures.vsStorageFree, 'ratio', GOALS.vsStorageFree),
    judge('ingest.vsOneCommit', figures.vsOneCommit, 'ratio', GOALS.vsOneCommit),
    judge('ingest.p99Ms', figures.p99Ms, 'ms', GOALS.p99Ms),
    judge('ingest.p50Ms', figures.p50Ms, 'ms'),
    judge('ingest.perSecond', figures.perSecond, 'deliveries/s'),
    judge('ingest.storageFreePerSecond', figures.storageFreePerSecond, 'requests/s'),
    judge('ingest.oneCommitPerSecond', figures.oneCommitPerSecond, 'deliveries/s'),
    judge('ingest.generatorHeadroom', generatorPerSecond / figures.storageFreePerSecond, 'ratio', HEADROOM),
  ]
}
