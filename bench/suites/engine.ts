import { join } from 'node:path'
import type { Bench, Suite } from '../bench.ts'
import type { Target } from '../child.ts'
import { CONNECTIONS, MOST_STORED_PER_SECOND } from '../ingest-burst.ts'
import { type Goal, judge, median, percentile, type Result } from '../result.ts'
import { measureRounds } from '../rounds.ts'

const GOALS = {
  runsPerSecond: { atLeast: 10_000 },
  medianMs: { atMost: 2 },
  eventsPerSecond: { atLeast: 8_000 },
} as const satisfies Record<string, Goal>

const IN_FLIGHT = 200

/** How fast runs of three durable steps go, with many at once and one at a time, and how fast the whole belt goes. */
export const engine: Suite = {
  names: [
    'steps3.runsPerSecond',
    'steps3.medianMs',
    'steps3.p99Ms',
    'steps3.cpuMicrosPerRun',
    'belt.eventsPerSecond',
    'belt.acceptedPerSecond',
  ],
  run: runEngine,
}

async function runEngine(bench: Bench): Promise<Result[]> {
  await using target = bench.startTarget('engine.ts')
  const url = await target.call<string>('open', { file: join(bench.folder, 'engine.db'), slots: IN_FLIGHT })
  const rounds = bench.isQuick ? { least: 3, most: 5 } : { least: 7, most: 11 }
  const many = await measureRuns(bench, target, rounds)
  const singles = await measureSingles(bench, target)
  // What receives has not been called before, and is compiled on the way.
  await sendThroughBelt(bench, { target, url, round: 0 })
  const belt = await measureRounds(rounds, { eventsPerSecond: GOALS.eventsPerSecond }, (round) =>
    sendThroughBelt(bench, { target, url, round: round + 1 }),
  )
  return [
    judge('steps3.runsPerSecond', many.runsPerSecond, 'runs/s', GOALS.runsPerSecond),
    judge('steps3.medianMs', median(singles), 'ms', GOALS.medianMs),
    judge('steps3.p99Ms', percentile(singles, 0.99), 'ms'),
    judge('steps3.cpuMicrosPerRun', many.cpuMicrosPerRun, 'µs'),
    judge('belt.eventsPerSecond', belt.eventsPerSecond, 'events/s', GOALS.eventsPerSecond),
    judge('belt.acceptedPerSecond', belt.acceptedPerSecond, 'deliveries/s'),
  ]
}

async function measureRuns(bench: Bench, target: Target, rounds: { least: number; most: number }) {
  const run = (count: number) =>
    target.call<{ runsPerSecond: number; cpuMicrosPerRun: number }>('runMany', { count, inFlight: IN_FLIGHT })
  // The compiler needs some seconds of this until it has made up its mind.
  await run(bench.isQuick ? 10_000 : 40_000)
  return measureRounds(rounds, { runsPerSecond: GOALS.runsPerSecond }, async () => {
    await bench.patience.waitForCalm()
    const figures = await run(bench.isQuick ? 5_000 : 30_000)
    const { runsPerSecond, cpuMicrosPerRun } = figures
    bench.say(
      `  ${Math.round(runsPerSecond)} runs/s, ${IN_FLIGHT} in flight, ${Math.round(cpuMicrosPerRun)} µs of CPU each`,
    )
    return figures
  })
}

async function measureSingles(bench: Bench, target: Target): Promise<number[]> {
  await bench.patience.waitForCalm()
  await target.call('runSingly', 100)
  const times = await target.call<number[]>('runSingly', bench.isQuick ? 400 : 2_000)
  bench.say(`  ${times.length} single runs`)
  return times
}

/** Sends for a while as fast as the receiver takes it, and waits until the last run is done: a backlog counts as time. */
async function sendThroughBelt(bench: Bench, { target, url, round }: { target: Target; url: string; round: number }) {
  await bench.patience.waitForCalm()
  const seconds = bench.isQuick ? 1 : 5
  const most = seconds * MOST_STORED_PER_SECOND
  const before = await target.call<number>('expectBurst')
  const deliveries = { ...bench.deliveries, from: round * most, count: most }
  const { answered, perSecond } = await bench.load.send({ url, connections: CONNECTIONS, seconds, deliveries })
  const ms = await target.call<number>('msOfBurst', before + answered)
  const eventsPerSecond = answered / (ms / 1_000)
  bench.say(
    `  ${Math.round(eventsPerSecond)} events/s from delivery to end, ${Math.round(perSecond)} accepted per second, ` +
      `${CONNECTIONS} connections, ${IN_FLIGHT} slots`,
  )
  return { eventsPerSecond, acceptedPerSecond: perSecond }
}
