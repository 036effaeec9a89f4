import { join } from 'node:path'
import type { Bench, Suite } from '../bench.ts'
import type { Target } from '../child.ts'
import { CONNECTIONS, MAX_STORED_PER_SECOND } from '../ingest-burst.ts'
import { type Goal, judge, median, percentile, type Result } from '../result.ts'
import { inTurn, measureRounds } from '../rounds.ts'

/**
 * Figures per second say as much of the machine as of us, so the same written by hand runs beside
 * it, and `vsByHand` compares the two. Where these goals come from it made 79,000 runs (their steps
 * alone, while ours bring their event along) and 16,600 events a second: they ask for 0.13 and 0.48
 * of that.
 */
const GOALS = {
  runsPerSecond: { atLeast: 10_000 },
  medianMs: { atMost: 2 },
  eventsPerSecond: { atLeast: 8_000 },
} as const satisfies Record<string, Goal>

const IN_FLIGHT = 200

/**
 * How fast runs of three durable steps go, with many at once and one at a time, and how fast the
 * whole belt goes.
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

/** A process that has a belt, and where it takes deliveries. */
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
  const rounds = bench.isQuick ? { least: 3, most: 5 } : { least: 7, most: 11 }
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

async function measureRuns(bench: Bench, rivals: Rivals, rounds: { least: number; most: number }) {
  const run = (rival: Rival, count: number) =>
    rivals[rival].target.call<ManyRuns>('runMany', { count, inFlight: IN_FLIGHT })
  // The compiler needs some seconds of this until it has made up its mind.
  for (const rival of RIVALS) await run(rival, bench.isQuick ? 10_000 : 40_000)
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

async function measureBelts(bench: Bench, rivals: Rivals, rounds: { least: number; most: number }) {
  // What receives has not been called before, and is compiled on the way.
  for (const rival of RIVALS) await sendThroughBelt(bench, rivals[rival], 0)
  return measureRounds(rounds, { eventsPerSecond: GOALS.eventsPerSecond }, async (round) => {
    await bench.patience.waitForCalm()
    const { engine, byHand } = await measureEach(round, (rival) => sendThroughBelt(bench, rivals[rival], round + 1))
    bench.say(
      `  ${Math.round(engine.eventsPerSecond)} events/s from delivery to end, ` +
        `${Math.round(engine.acceptedPerSecond)} accepted per second, ${CONNECTIONS} connections, ${IN_FLIGHT} slots, ` +
        `by hand ${Math.round(byHand.eventsPerSecond)}`,
    )
    return { ...engine, vsByHand: engine.eventsPerSecond / byHand.eventsPerSecond }
  })
}

/**
 * Sends for a while as fast as the receiver takes it, and waits until the last run is done: a
 * backlog counts as time.
 */
async function sendThroughBelt(bench: Bench, { target, url }: Belt, round: number) {
  const seconds = bench.isQuick ? 1 : 5
  const most = seconds * MAX_STORED_PER_SECOND
  const before = await target.call<number>('expectBurst')
  const deliveries = { ...bench.deliveries, from: round * most, count: most }
  const { answered, perSecond } = await bench.load.send({ url, connections: CONNECTIONS, seconds, deliveries })
  const ms = await target.call<number>('msOfBurst', before + answered)
  return { eventsPerSecond: answered / (ms / 1_000), acceptedPerSecond: perSecond }
}
