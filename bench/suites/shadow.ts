import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { EVENT_TYPE } from '../deliveries.ts'
import { SERVICE, sendPaced } from '../load/paced-deliveries.ts'
import { type AppProcess, startApp } from '../processes/app-process.ts'
import { judge, median, percentile, type Result } from '../report/result.ts'
import { inTurn } from '../report/rounds.ts'
import { CONNECTIONS, MAX_STORED_PER_SECOND } from './ingest-burst.ts'
import type { Bench, Suite } from './suite.ts'

/**
 * The whole app at work, with a shadow that follows its runs and without. Throughput varies by more
 * than a shadow costs, so the claim is about the processor time of the app.
 */
export const shadow: Suite = {
  names: ['shadow.cpuVsNone', 'shadow.throughputVsNone', 'shadow.lagMs'],
  isSlow: true,
  run: runShadow,
}

const GOALS = { cpuVsNone: { atMost: 1.02 } } as const
const AUTHOR = resolve(import.meta.dirname, '../../src/author/index.ts')
const CODE = `import { defineWorkflow } from '${AUTHOR}'
export default defineWorkflow({
  id: 'measured',
  on: '${EVENT_TYPE}',
  run: async ({ step }) => {
    for (const name of ['one', 'two', 'three']) await step.run(name, () => name)
  },
})
`
/** The runs of a burst take several times as long, so that the shadow follows most of them. */
const BURST_SECONDS = { quick: 2, full: 3 }
/** Paced runs, and the time in which a shadow follows the last of them. */
const PACED_SECONDS = { quick: 6, full: 12 }
const FOLLOWED_MS = 9_000
const LAG_SECONDS = 20
const PER_SECOND = 200

const IS_IDLE = `SELECT count(*) < 1 FROM work WHERE status IN ('pending', 'running')`

const NAMES = ['none', 'followed'] as const
type Name = (typeof NAMES)[number]

interface Rival {
  app: AppProcess
  file: string
}

async function runShadow(bench: Bench): Promise<Result[]> {
  await using none = await openRival(bench, false)
  await using followed = await openRival(bench, true)
  const rivals = { none, followed }
  // The first runs compile everything.
  for (const rival of Object.values(rivals)) await measureBurst(bench, rival, { round: 0, seconds: 1 })
  await awaitFollowed(followed)
  const cpu = await compare(bench, rivals, {
    title: 'us of the app a run',
    measure: (rival) => measureCpu(bench, rival),
  })
  const seconds = bench.isQuick ? BURST_SECONDS.quick : BURST_SECONDS.full
  const speed = await compare(bench, rivals, {
    title: 'runs/s',
    measure: (rival, round) => measureBurst(bench, rival, { round: round + 1, seconds }),
  })
  return [
    judge('shadow.cpuVsNone', cpu, 'ratio', GOALS.cpuVsNone),
    judge('shadow.throughputVsNone', speed, 'ratio'),
    judge('shadow.lagMs', await measureLag(followed), 'ms', { atMost: 10_000 }),
  ]
}

interface Comparison {
  title: string
  measure: (rival: Rival, round: number) => Promise<number>
}

/** The median of rounds in which both rivals take turns; their spread is printed. */
async function compare(bench: Bench, rivals: Record<Name, Rival>, { title, measure }: Comparison): Promise<number> {
  const ratios: number[] = []
  for (let round = 0; round < (bench.isQuick ? 2 : 9); round++) {
    const found = { none: 0, followed: 0 }
    for (const name of inTurn(NAMES, round)) {
      await bench.patience.waitForCalm()
      found[name] = await measure(rivals[name], round)
      await awaitFollowed(rivals.followed)
    }
    bench.say(`  ${Math.round(found.none)} ${title} without a shadow, ${Math.round(found.followed)} with one`)
    ratios.push(found.followed / found.none)
  }
  const [low, high] = [percentile(ratios, 0.25), percentile(ratios, 0.75)]
  bench.say(`  ${title}: half of ${ratios.length} rounds between ${low.toFixed(3)} and ${high.toFixed(3)}`)
  return median(ratios)
}

/** Processor time of the app for a run, in microseconds, with that of following it. */
async function measureCpu(bench: Bench, { app, file }: Rival): Promise<number> {
  const runs = (bench.isQuick ? PACED_SECONDS.quick : PACED_SECONDS.full) * PER_SECOND
  const agent = new Agent({ keepAlive: true })
  const before = app.cpuMs()
  await sendPaced(app.urls['endpoint service'] ?? '', agent, runs)
  agent.destroy()
  await until(file, IS_IDLE)
  await sleep(FOLLOWED_MS)
  return ((app.cpuMs() - before) * 1_000) / runs
}

/** Runs a second, from the first delivery to the end of the last run. */
async function measureBurst(
  bench: Bench,
  { app, file }: Rival,
  { round, seconds }: { round: number; seconds: number },
): Promise<number> {
  const begunAt = performance.now()
  const url = app.urls['endpoint service'] ?? ''
  const count = seconds * MAX_STORED_PER_SECOND
  const deliveries = { ...bench.deliveries, from: round * count, count }
  const { answered } = await bench.load.send({ url, connections: CONNECTIONS, seconds, deliveries })
  await until(file, IS_IDLE)
  return (answered / (performance.now() - begunAt)) * 1_000
}

/** The longest time, at 200 runs a second, from the making of a run to its count by the shadow. */
async function measureLag({ app, file }: Rival): Promise<number> {
  const agent = new Agent({ keepAlive: true })
  const sent = sendPaced(app.urls['endpoint service'] ?? '', agent, LAG_SECONDS * PER_SECOND)
  const db = new Database(file, { readonly: true })
  const oldest = db
    .prepare<[], number>(
      `SELECT min(created_at) FROM run WHERE created_at >= (SELECT book ->> 'followed' FROM shadow_book)`,
    )
    .pluck()
  let longest = 0
  for (const endsAt = performance.now() + LAG_SECONDS * 1_000; performance.now() < endsAt; await sleep(100)) {
    longest = Math.max(longest, Date.now() - (oldest.get() ?? Date.now()))
  }
  db.close()
  await sent
  agent.destroy()
  return longest
}

async function awaitFollowed({ file }: Rival): Promise<void> {
  await until(file, `SELECT (SELECT book ->> '$.found.runs' FROM shadow_book) = (SELECT count(*) FROM run)`)
}

async function until(file: string, question: string): Promise<void> {
  const db = new Database(file, { readonly: true })
  while (db.prepare(question).pluck().get() !== 1) await sleep(50)
  db.close()
}

async function openRival(bench: Bench, isFollowed: boolean): Promise<Rival & AsyncDisposable> {
  const root = mkdtempSync(join(bench.folder, 'shadow-'))
  for (const each of ['workflows', 'data']) mkdirSync(join(root, each))
  writeFileSync(join(root, 'workflows/measured.workflow.ts'), CODE)
  if (isFollowed) writeFileSync(join(root, 'workflows/measured.shadow.ts'), CODE)
  const app = await startApp({ root, environment: SERVICE })
  const file = join(root, 'data/upshot.db')
  if (isFollowed) await until(file, 'SELECT count(*) FROM shadow_book')
  return { app, file, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() }
}
