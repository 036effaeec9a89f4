import { join } from 'node:path'
import type { Target } from '../processes/child.ts'
import { type Goal, judge, median, percentile, type Result } from '../report/result.ts'
import { inTurn, measureRounds, type RoundPlan } from '../report/rounds.ts'
import { CONNECTIONS, MAX_STORED_PER_SECOND } from './ingest-burst.ts'
import type { Bench, Suite } from './suite.ts'

/**
 * Goals for two cores. On the machine that they were set on, the belt by hand made 79,000 runs and
 * 16,600 events per second.
 */
const GOALS = {
  runsPerSecond: { atLeast: 10_000 },
  medianMs: { atMost: 2 },
  eventsPerSecond: { atLeast: 8_000 },
} as const satisfies Record<string, Goal>

const IN_FLIGHT = 200

/**
 * Speed of runs with three durable steps, many at once and one at a time, and of the whole belt.
 */
export const engine: Suite = {
  names: [
    'steps3.runsPerSecond',
    'steps3.vsByHand',
    'steps3.medianMs',
    'steps3.p99Ms',
    'steps3.cpuMicrosPerRun',
    'belt.eventsPerSecond',
    'belt.vsByHand',
    'belt.acceptedPerSecond',
  ],
  run: runEngine,
}

/** A process with receiver, store and worker, and the URL that it takes deliveries at. */
interface Belt {
  target: Target
  url: string
}

const RIVALS = ['engine', 'byHand'] as const
type Rival = (typeof RIVALS)[number]
type Rivals = Record<Rival, Belt>

async function runEngine(bench: Bench): Promise<Result[]> {
  await using target = bench.startTarget('engine.ts')
  await using handTarget = bench.startTarget('belt-by-hand.ts')
  const open = async (target: Target, name: string): Promise<Belt> => ({
    target,
    url: await target.call<string>('open', { file: join(bench.folder, name), slots: IN_FLIGHT }),
  })
  const rivals = { engine: await open(target, 'engine.db'), byHand: await open(handTarget, 'by-hand.db') }
  const rounds = bench.quickRounds ?? { min: 7, max: 11 }
  const many = await measureRuns(bench, rivals, rounds)
  const singles = await measureSingles(bench, target)
  const belt = await measureBelts(bench, rivals, rounds)
  return [
    judge('steps3.runsPerSecond', many.runsPerSecond, 'runs/s', GOALS.runsPerSecond),
    judge('steps3.vsByHand', many.vsByHand, 'ratio'),
    judge('steps3.medianMs', median(singles), 'ms', GOALS.medianMs),
    judge('steps3.p99Ms', percentile(singles, 0.99), 'ms'),
    judge('steps3.cpuMicrosPerRun', many.cpuMicrosPerRun, 'µs'),
    judge('belt.eventsPerSecond', belt.eventsPerSecond, 'events/s', GOALS.eventsPerSecond),
    judge('belt.vsByHand', belt.vsByHand, 'ratio'),
    judge('belt.acceptedPerSecond', belt.acceptedPerSecond, 'deliveries/s'),
  ]
}

interface ManyRuns {
  runsPerSecond: number
  cpuMicrosPerRun: number
}

async function measureRuns(bench: Bench, rivals: Rivals, rounds: RoundPlan) {
  const run = (rival: Rival, count: number) =>
    rivals[rival].target.call<ManyRuns>('runMany', { count, inFlight: IN_FLIGHT })
  // Warm-up: V8 takes some seconds to optimize this code.
  for (const rival of bench.isOnce ? [] : RIVALS) await run(rival, bench.isQuick ? 10_000 : 40_000)
  return measureRounds(rounds, { runsPerSecond: GOALS.runsPerSecond }, async (round) => {
    await bench.patience.waitForCalm()
    const { engine, byHand } = await measureEach(round, (rival) => run(rival, bench.isQuick ? 5_000 : 30_000))
    const { runsPerSecond, cpuMicrosPerRun } = engine
    bench.say(
      `  ${Math.round(runsPerSecond)} runs/s, ${IN_FLIGHT} in flight, ${Math.round(cpuMicrosPerRun)} µs of CPU each, ` +
        `by hand ${Math.round(byHand.runsPerSecond)}`,
    )
    return { ...engine, vsByHand: runsPerSecond / byHand.runsPerSecond }
  })
}

async function measureEach<T>(round: number, measure: (rival: Rival) => Promise<T>): Promise<Record<Rival, T>> {
  const measured: [Rival, T][] = []
  for (const rival of inTurn(RIVALS, round)) measured.push([rival, await measure(rival)])
  return Object.fromEntries(measured) as Record<Rival, T>
}

async function measureSingles(bench: Bench, target: Target): Promise<number[]> {
  await bench.patience.waitForCalm()
  await target.call('runSingly', 100)
  const times = await target.call<number[]>('runSingly', bench.isQuick ? 400 : 2_000)
  bench.say(`  ${times.length} single runs`)
  return times
}

async function measureBelts(bench: Bench, rivals: Rivals, rounds: RoundPlan) {
  // Warm-up of the receiver, which has not been called so far.
  for (const rival of RIVALS) await sendThroughBelt(bench, rivals[rival], 0)
  return measureRounds(rounds, { eventsPerSecond: GOALS.eventsPerSecond }, async (round) => {
    await bench.patience.waitForCalm()
    const { engine, byHand } = await measureEach(round, (rival) => sendThroughBelt(bench, rivals[rival], round + 1))
    bench.say(
      `  ${Math.round(engine.eventsPerSecond)} events/s from delivery to end, ` +
        `${Math.round(engine.acceptedPerSecond)} accepted per second, ` +
        `${CONNECTIONS} connections, ${IN_FLIGHT} slots, by hand ${Math.round(byHand.eventsPerSecond)}`,
    )
    return { ...engine, vsByHand: engine.eventsPerSecond / byHand.eventsPerSecond }
  })
}

/** Sends as fast as the receiver answers, then waits for the last run: a backlog costs time. */
async function sendThroughBelt(bench: Bench, { target, url }: Belt, round: number) {
  const seconds = bench.isQuick ? 1 : 5
  const count = seconds * MAX_STORED_PER_SECOND
  const before = await target.call<number>('expectBurst')
  const deliveries = { ...bench.deliveries, from: round * count, count }
  const { answered, perSecond } = await bench.load.send({ url, connections: CONNECTIONS, seconds, deliveries })
  const ms = await target.call<number>('msOfBurst', before + answered)
  return { eventsPerSecond: answered / (ms / 1_000), acceptedPerSecond: perSecond }
}
