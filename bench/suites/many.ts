import { join } from 'node:path'
import { prefillEvents } from '../prefill/prefill-events.ts'
import { prefillPostgres } from '../prefill/prefill-postgres.ts'
import type { Target } from '../processes/child.ts'
import type { StorePlace } from '../processes/open-store.ts'
import { type Goal, judge, median, type Result } from '../report/result.ts'
import { inTurn, measureRounds } from '../report/rounds.ts'
import { startServer } from './postgres/bench-server.ts'
import type { Bench, Suite } from './suite.ts'

const CALLS = ['ingest', 'claim', 'list', 'search', 'prune'] as const
type Call = (typeof CALLS)[number]

/** The calls of both stores with ten million events and runs, of which a million wait. */
export const many: Suite = {
  names: ['', 'Postgres'].flatMap((database) => CALLS.map((call) => `many.${call}${database}`)),
  isSlow: true,
  run: async (bench) => [...(await measureSqlite(bench)), ...(await measurePostgres(bench))],
}

const GOAL: Goal = { atLeast: 0.9 }
const ROWS = { few: 20_000, quick: 200_000, full: 10_000_000 }
/** One run of so many waits. */
const WAITING_OF = 10
/** Times that a round makes each call. */
const TIMES = 10

type Places = Record<'few' | 'many', StorePlace>

async function measureSqlite(bench: Bench): Promise<Result[]> {
  const places = { few: { file: join(bench.folder, 'few.db') }, many: { file: join(bench.folder, 'many.db') } }
  const begunAt = performance.now()
  prefillEvents(places.few.file, ROWS.few, { waitingOf: WAITING_OF })
  prefillEvents(places.many.file, rowsOf(bench), { waitingOf: WAITING_OF })
  sayFilled(bench, begunAt)
  await using few = bench.startTarget('stores.ts')
  await using many = bench.startTarget('stores.ts')
  await few.call('open', places.few)
  await many.call('open', places.many)
  return await measureCalls(bench, { few, many }, '')
}

async function measurePostgres(bench: Bench): Promise<Result[]> {
  await using server = await startServer(bench, ['autovacuum_max_workers = 1'])
  const places: Places = { few: { urls: [server.url], schema: 'few' }, many: { urls: [server.url], schema: 'many' } }
  await using few = bench.startTarget('stores.ts')
  await using many = bench.startTarget('stores.ts')
  await few.call('open', places.few)
  await many.call('open', places.many)
  const begunAt = performance.now()
  await prefillPostgres(server, 'few', { events: ROWS.few, waitingOf: WAITING_OF })
  await prefillPostgres(server, 'many', { events: rowsOf(bench), waitingOf: WAITING_OF })
  sayFilled(bench, begunAt)
  return await measureCalls(bench, { few, many }, 'Postgres')
}

function rowsOf({ isQuick }: Bench): number {
  return isQuick ? ROWS.quick : ROWS.full
}

function sayFilled(bench: Bench, begunAt: number): void {
  bench.say(
    `  ${rowsOf(bench)} events with their runs, filled in ${Math.round((performance.now() - begunAt) / 1_000)} s`,
  )
}

/** Times of each call with few rows over those with many, in turn. */
async function measureCalls(bench: Bench, targets: Record<'few' | 'many', Target>, suffix: string): Promise<Result[]> {
  const time = (size: 'few' | 'many', call: Call) => targets[size].call<number>('timeCall', { call })
  // The first calls of a process read files and compile code.
  for (const call of CALLS) for (const size of ['few', 'many'] as const) await time(size, call)
  const goals = Object.fromEntries(CALLS.map((call) => [call, GOAL])) as Record<Call, Goal>
  const rounds = bench.quickRounds ?? { min: 5, max: 9 }
  const figures = await measureRounds(rounds, goals, async () => {
    await bench.patience.waitForCalm()
    const ratios = {} as Record<Call, number>
    for (const call of CALLS) {
      const taken = { few: [] as number[], many: [] as number[] }
      for (let turn = 0; turn < TIMES; turn++)
        for (const size of inTurn(['few', 'many'] as const, turn)) taken[size].push(await time(size, call))
      const [fast, slow] = [median(taken.few), median(taken.many)]
      ratios[call] = fast / slow
      bench.say(`  ${call.padEnd(6)} ${fast.toFixed(2)} ms with few rows, ${slow.toFixed(2)} ms with many`)
    }
    return ratios
  })
  return CALLS.map((call) => judge(`many.${call}${suffix}`, figures[call], 'ratio', GOAL))
}
