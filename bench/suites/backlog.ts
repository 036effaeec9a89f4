import { setTimeout as sleep } from 'node:timers/promises'
import { startNodeSenders } from '../load/node-senders.ts'
import { openProject } from '../processes/open-project.ts'
import { judge, type Result } from '../report/result.ts'
import {
  CONNECTIONS,
  deliverLimited,
  EVENTS,
  IN_LINE,
  MODULES,
  MOST_SECONDS,
  measureLine,
  urlOf,
  WARM,
} from './mixed.ts'
import { type BenchServer, startServer } from './postgres/bench-server.ts'
import type { Bench, Suite } from './suite.ts'

/** All kinds of runs behind a standing backlog of N and of 10 N events, as no sender competes. */
export const backlog: Suite = {
  names: ['mixed.growth', 'mixed.limitedGrowth'],
  isSlow: true,
  run: runBacklog,
}

/** Time for which runs are counted: shorter than any of the backlogs lasts. */
const COUNTED_MS = { quick: 5_000, full: 20_000 }

async function runBacklog(bench: Bench): Promise<Result[]> {
  await using server = await startServer(bench)
  const size = bench.isQuick ? 'quick' : 'full'
  const few = await measureBehind(bench, server, { size, events: EVENTS[size] })
  const many = await measureBehind(bench, server, { size, events: 10 * EVENTS[size] })
  return [
    judge('mixed.growth', many.long / few.long, 'ratio', { atLeast: 0.8 }),
    judge('mixed.limitedGrowth', many.limited / few.limited, 'ratio', { atLeast: 0.8 }),
  ]
}

/** Runs per second of a worker that starts behind a backlog. */
async function measureBehind(
  bench: Bench,
  server: BenchServer,
  { size, events }: { size: keyof typeof EVENTS; events: number },
): Promise<{ long: number; limited: number }> {
  await using project = await openProject(bench, { database: 'postgres', server, modules: MODULES })
  await using load = await startNodeSenders()
  const warm = { ...bench.deliveries, from: 0, count: WARM }
  await load.send({ url: urlOf(project), connections: CONNECTIONS, seconds: 60, deliveries: warm })
  await project.rest(MOST_SECONDS[size])
  await project.restart('receiver')
  const deliveries = { ...bench.deliveries, from: WARM, count: events }
  await load.send({ url: urlOf(project), connections: CONNECTIONS, seconds: 300, deliveries })
  await deliverLimited(urlOf(project), IN_LINE[size])
  await project.restart('worker')
  const from = Date.now()
  await sleep(COUNTED_MS[size])
  const until = Date.now()
  const runs = (await project.listRuns(0)).filter(({ finished }) => finished === null || finished >= from)
  const ended = runs.filter(({ workflow, finished }) => workflow === 'long' && finished !== null && finished <= until)
  const limited = runs.filter(({ workflow }) => workflow === 'limited')
  const found = {
    long: (ended.length * 1_000) / (until - from),
    limited: measureLine(
      limited.map((run) => ({ ...run, created: Math.max(run.created, from) })),
      until,
    ),
  }
  bench.say(`  behind ${events} events: long ${found.long.toFixed(1)}, limited ${found.limited.toFixed(1)} runs/s`)
  return found
}
