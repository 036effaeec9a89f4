import { join } from 'node:path'
import type { Target } from '../processes/child.ts'
import { type Goal, judge, median, type Result } from '../report/result.ts'
import { inTurn } from '../report/rounds.ts'
import type { Bench, Suite } from './suite.ts'

/** Twice the steps take about twice the time, and ten times the children about ten times. */
const GOALS = {
  doubled: { atMost: 2.3 },
  tenfold: { atMost: 13 },
} as const satisfies Record<string, Goal>

/** The cost of many waits in one run, in turn and at once, and its growth with their number. */
export const turns: Suite = {
  names: [
    'turns.sleepsDoubled',
    'turns.sleepMicros',
    'turns.childrenDoubled',
    'turns.childMicros',
    'turns.vsReplay',
    'turns.atOnceTenfold',
    'turns.atOnceMicros',
  ],
  isSlow: true,
  run: runTurns,
}

async function runTurns(bench: Bench): Promise<Result[]> {
  await using target = bench.startTarget('engine.ts')
  await using replaying = bench.startTarget('engine.ts')
  await target.call('open', { file: join(bench.folder, 'turns.db'), slots: 10 })
  await replaying.call('open', { file: join(bench.folder, 'turns-replayed.db'), slots: 10, cachesPasses: false })
  const inTurnCount = bench.isQuick ? 500 : 2_000
  const atOnceCount = bench.isQuick ? 1_000 : 5_000
  const rounds = bench.isQuick ? 1 : 5
  // Warm-up: V8 takes some seconds to optimize this code.
  for (const each of [target, replaying]) await cpuMsOf(each, 'children-in-turn', bench.isQuick ? 200 : 1_000)

  const sleeps = await measureGrowth(bench, target, 'sleeps-in-turn', { count: inTurnCount, times: 2, rounds })
  const children = await measureGrowth(bench, target, 'children-in-turn', { count: inTurnCount, times: 2, rounds })
  const atOnce = await measureGrowth(bench, target, 'children-at-once', { count: atOnceCount, times: 10, rounds })
  const ratios: number[] = []
  for (let round = 0; round < rounds; round++) {
    const ms: Record<'kept' | 'replayed', number> = { kept: 0, replayed: 0 }
    for (const rival of inTurn(['kept', 'replayed'] as const, round))
      ms[rival] = await cpuMsOf(rival === 'kept' ? target : replaying, 'sleeps-in-turn', inTurnCount / 2)
    ratios.push(ms.replayed / ms.kept)
  }
  return [
    judge('turns.sleepsDoubled', sleeps.growth, 'ratio', GOALS.doubled),
    judge('turns.sleepMicros', sleeps.micros, 'µs'),
    judge('turns.childrenDoubled', children.growth, 'ratio', GOALS.doubled),
    judge('turns.childMicros', children.micros, 'µs'),
    judge('turns.vsReplay', median(ratios), 'ratio'),
    judge('turns.atOnceTenfold', atOnce.growth, 'ratio', GOALS.tenfold),
    judge('turns.atOnceMicros', atOnce.micros, 'µs'),
  ]
}

function cpuMsOf(target: Target, workflow: string, input: number): Promise<number> {
  return target.call<number>('cpuMsOfRun', { workflow, input })
}

/** Time of `count` waits over that of a `times`-th of them, right after one another. */
async function measureGrowth(
  bench: Bench,
  target: Target,
  workflow: string,
  { count, times, rounds }: { count: number; times: number; rounds: number },
): Promise<{ growth: number; micros: number }> {
  const growths: number[] = []
  const micros: number[] = []
  for (let round = 0; round < rounds; round++) {
    await bench.patience.waitForCalm()
    const few = await cpuMsOf(target, workflow, count / times)
    const many = await cpuMsOf(target, workflow, count)
    growths.push(many / few)
    micros.push((many * 1_000) / count)
  }
  bench.say(`  ${count} of ${workflow}: ${Math.round(median(micros))} µs each`)
  return { growth: median(growths), micros: median(micros) }
}
