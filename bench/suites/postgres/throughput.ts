import { join } from 'node:path'
import type { Target } from '../../processes/child.ts'
import { type Goal, judge, type Result } from '../../report/result.ts'
import { inTurn, measureRounds } from '../../report/rounds.ts'
import type { Bench } from '../suite.ts'
import { startServer } from './bench-server.ts'

const GOALS = { eventsVsSqlite: { atLeast: 0.5 }, cpuVsSqlite: { atMost: 0.55 } } as const satisfies Record<
  string,
  Goal
>

export interface BeltFigures {
  eventsPerSecond: number
  cpuMicrosPerEvent: number
}

const RIVALS = ['sqlite', 'postgres'] as const

/** One process on either store: events with a run of three steps, all of them through. */
export async function measureThroughput(bench: Bench): Promise<Result[]> {
  await using server = await startServer(bench)
  await using sqlite = bench.startTarget('stores.ts')
  await using postgres = bench.startTarget('stores.ts')
  await sqlite.call('open', { file: join(bench.folder, 'stores.db') })
  await postgres.call('open', { urls: [server.url], schema: 'upshot' })
  const targets = { sqlite, postgres }
  for (const rival of RIVALS) await runBelt(targets[rival], bench.isQuick ? 1 : 4)
  const rounds = bench.isQuick ? { min: 2, max: 2 } : { min: 5, max: 9 }
  const figures = await measureRounds(rounds, GOALS, async (round) => {
    await bench.patience.waitForCalm()
    const measured = {} as Record<(typeof RIVALS)[number], BeltFigures>
    for (const rival of inTurn(RIVALS, round)) measured[rival] = await runBelt(targets[rival], bench.isQuick ? 1 : 3)
    const { sqlite, postgres } = measured
    bench.say(`  PostgreSQL: ${describe(postgres)}; SQLite: ${describe(sqlite)}`)
    return {
      eventsVsSqlite: postgres.eventsPerSecond / sqlite.eventsPerSecond,
      cpuVsSqlite: postgres.cpuMicrosPerEvent / sqlite.cpuMicrosPerEvent,
      eventsPerSecond: postgres.eventsPerSecond,
    }
  })
  return [
    judge('postgres.eventsVsSqlite', figures.eventsVsSqlite, 'ratio', GOALS.eventsVsSqlite),
    judge('postgres.cpuVsSqlite', figures.cpuVsSqlite, 'ratio', GOALS.cpuVsSqlite),
    judge('postgres.eventsPerSecond', figures.eventsPerSecond, 'events/s'),
  ]
}

export function runBelt(
  target: Target,
  seconds: number,
  { account = 'default', atOnce }: { account?: string | undefined; atOnce?: number } = {},
): Promise<BeltFigures> {
  return target.call<BeltFigures>('belt', { account, seconds, atOnce })
}

function describe({ eventsPerSecond, cpuMicrosPerEvent }: BeltFigures): string {
  return `${Math.round(eventsPerSecond)} events/s, ${Math.round(cpuMicrosPerEvent)} µs of our CPU each`
}
