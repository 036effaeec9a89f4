import { join } from 'node:path'
import { type Backlog, prefillRuns } from '../prefill/prefill-runs.ts'
import { type Goal, judge, median, type Result } from '../report/result.ts'
import { measureRounds } from '../report/rounds.ts'
import type { Bench, Suite } from './suite.ts'

const GOALS = { at1MPending: { atLeast: 0.85 }, at5MFinished: { atLeast: 0.85 } } as const satisfies Record<
  string,
  Goal
>

/** Pending runs of the empty store, enough for all claims of a round. */
const PENDING = 1_000
const LIMIT = 50

/** Cost of a claim with a long queue, and with many finished runs, against an empty store. */
export const claim: Suite = {
  names: ['claim.at1MPending', 'claim.at5MFinished', 'claim.emptyMicros'],
  run: runClaim,
}

const MANY = {
  once: { pending: 10_000, finished: 10_000 },
  quick: { pending: 100_000, finished: 100_000 },
  full: { pending: 1_000_000, finished: 5_000_000 },
}

async function runClaim(bench: Bench): Promise<Result[]> {
  await using target = bench.startTarget('claims.ts')
  const many = MANY[bench.size]
  const files = [
    fill(bench, 'empty', { finished: 0, pending: PENDING }),
    fill(bench, 'pending', { finished: 0, pending: many.pending }),
    fill(bench, 'finished', { finished: many.finished, pending: PENDING }),
  ]
  const claimAll = async (rounds: number) =>
    (await target.call<number[][]>('claim', { files, rounds, limit: LIMIT })).map(median)
  await claimAll(200)
  const plan = bench.quickRounds ?? { min: 9, max: 15 }
  const figures = await measureRounds(plan, GOALS, async () => {
    await bench.patience.waitForCalm()
    return compare(bench, await claimAll(bench.isQuick ? 100 : 300))
  })
  return [
    judge('claim.at1MPending', figures.at1MPending, 'ratio', GOALS.at1MPending),
    judge('claim.at5MFinished', figures.at5MFinished, 'ratio', GOALS.at5MFinished),
    judge('claim.emptyMicros', figures.emptyMicros, 'µs per run'),
  ]
}

function fill(bench: Bench, name: string, backlog: Backlog): string {
  const file = join(bench.folder, `claim-${name}.db`)
  const begunAt = performance.now()
  prefillRuns(file, backlog)
  const seconds = ((performance.now() - begunAt) / 1_000).toFixed(1)
  bench.say(`  ${backlog.finished} finished and ${backlog.pending} pending runs prefilled in ${seconds} s`)
  return file
}

function compare(bench: Bench, [empty = Number.NaN, pending = Number.NaN, finished = Number.NaN]: readonly number[]) {
  const [e, p, f] = [empty, pending, finished].map((micros) => micros.toFixed(1))
  bench.say(`  a claim costs ${e} µs per run in an empty store, ${p} with pending ones, ${f} with finished ones`)
  return { at1MPending: empty / pending, at5MFinished: empty / finished, emptyMicros: empty }
}
