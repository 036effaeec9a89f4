import { streamOf } from '../../../src/store/postgres/incoming/event-table.ts'
import { type Goal, judge, type Result } from '../../report/result.ts'
import { measureRounds } from '../../report/rounds.ts'
import type { Bench } from '../suite.ts'
import { type BenchServer, SLOW_COMMITS, startServer } from './bench-server.ts'
import { runBelt } from './throughput.ts'

const GOALS = {
  fourVsOne: { atLeast: 3.3 },
  fourVsOneOneStream: { atLeast: 1.8 },
  eightGateWorkersVsOne: { atLeast: 4 },
} as const satisfies Record<string, Goal>

/** Keys of the gate, and the runs that stand in line at each. */
const GATE = { keys: 200, each: 6 }
/** The same before the clock starts, so that each process has compiled what it runs. */
const FIRST = { keys: 200, each: 2 }
/**
 * Calls that each process has under way. They are few, so that one process waits for commits: with
 * 50 it fills two cores alone.
 */
const AT_ONCE = { deliveries: 8, ends: 10 }

/** The gain of more processes where each commit takes 10 ms. */
export async function measureProcesses(bench: Bench): Promise<Result[]> {
  await using server = await startServer(bench, SLOW_COMMITS)
  const figures = await measureRounds({ min: 3, max: 5 }, GOALS, async (round) => {
    await bench.patience.waitForCalm()
    const [one, four] = [await measureBelts(bench, server, 1), await measureBelts(bench, server, 4)]
    const shared = await measureBelts(bench, server, 4, 1)
    const [single, eight] = [await measureGate(bench, server, 1, round), await measureGate(bench, server, 8, round)]
    bench.say(
      `  events/s of one process ${Math.round(one)}, of four ${Math.round(four)}, ` +
        `of four in one stream ${Math.round(shared)}; ` +
        `ends/s of one worker at a gate ${Math.round(single)}, of eight ${Math.round(eight)}`,
    )
    return { fourVsOne: four / one, fourVsOneOneStream: shared / one, eightGateWorkersVsOne: eight / single }
  })
  return [
    judge('postgres.fourVsOne', figures.fourVsOne, 'ratio', GOALS.fourVsOne),
    judge('postgres.fourVsOneOneStream', figures.fourVsOneOneStream, 'ratio', GOALS.fourVsOneOneStream),
    judge('postgres.eightGateWorkersVsOne', figures.eightGateWorkersVsOne, 'ratio', GOALS.eightGateWorkersVsOne),
  ]
}

/** Events per second of processes, whose accounts are in so many streams. */
async function measureBelts(bench: Bench, server: BenchServer, count: number, streams = count): Promise<number> {
  await using group = await openProcesses(bench, server, { count, schema: 'belts' })
  const accounts = accountsOfStreams(streams)
  const begin = (seconds: number) =>
    Promise.all(
      group.targets.map((target, index) =>
        runBelt(target, seconds, { account: accounts[index % streams], atOnce: AT_ONCE.deliveries }),
      ),
    )
  await begin(1)
  const figures = await begin(3)
  return figures.reduce((sum, { eventsPerSecond }) => sum + eventsPerSecond, 0)
}

/** Ends per second of runs at a gate; each end lets the next run of its key in. */
async function measureGate(bench: Bench, server: BenchServer, count: number, round: number): Promise<number> {
  await using group = await openProcesses(bench, server, { count, schema: `gate_${count}_${round}` })
  const endAll = () =>
    Promise.all(group.targets.map((target) => target.call<number>('endAtGates', { atOnce: AT_ONCE.ends })))
  await group.targets[0]?.call('queueAtGates', FIRST)
  await endAll()
  await group.targets[0]?.call('queueAtGates', GATE)
  const begunAt = performance.now()
  const ended = await endAll()
  return ended.reduce((sum, each) => sum + each, 0) / ((performance.now() - begunAt) / 1_000)
}

/** Names of accounts, each of another stream. */
function accountsOfStreams(count: number): string[] {
  const found = new Map<number, string>()
  for (let n = 0; found.size < count; n++) found.set(streamOf(`account-${n}`), `account-${n}`)
  return [...found.values()]
}

async function openProcesses(bench: Bench, { url }: BenchServer, { count, schema }: { count: number; schema: string }) {
  const targets = Array.from({ length: count }, () => bench.startTarget('stores.ts'))
  // One after the other, because the first one makes the schema.
  for (const target of targets) await target.call('open', { urls: [url], schema })
  return {
    targets,
    async [Symbol.asyncDispose]() {
      await Promise.all(targets.map((target) => target[Symbol.asyncDispose]()))
    },
  }
}
