import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { EVENT_TYPE } from '../deliveries.ts'
import { SERVICE, sendPaced } from '../load/paced-deliveries.ts'
import { type AppProcess, startApp } from '../processes/app-process.ts'
import { judge, type Result } from '../report/result.ts'
import { inTurn, measureRounds } from '../report/rounds.ts'
import { CONNECTIONS, MAX_STORED_PER_SECOND } from './ingest-burst.ts'
import type { Bench, Suite } from './suite.ts'

/** The whole app at work, with a shadow that follows its runs and without. */
export const shadow: Suite = {
  names: ['shadow.throughputVsNone', 'shadow.lagMs'],
  isSlow: true,
  run: runShadow,
}

const GOALS = { throughputVsNone: { atLeast: 0.98 } } as const
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
const BURST_SECONDS = { quick: 3, full: 6 }
const LAG_SECONDS = 20
const PER_SECOND = 200

interface Rival {
  app: AppProcess
  file: string
}

async function runShadow(bench: Bench): Promise<Result[]> {
  const seconds = bench.isQuick ? BURST_SECONDS.quick : BURST_SECONDS.full
  await using none = await openRival(bench, false)
  await using followed = await openRival(bench, true)
  const rivals = { none, followed }
  const rounds = bench.isQuick ? { min: 1, max: 1 } : { min: 3, max: 5 }
  const figures = await measureRounds(rounds, GOALS, async (round) => {
    const perSecond = { none: 0, followed: 0 }
    for (const name of inTurn(['none', 'followed'] as const, round)) {
      await bench.patience.waitForCalm()
      perSecond[name] = await measureBurst(bench, rivals[name], { round, seconds })
      await awaitFollowed(followed)
    }
    bench.say(`  ${Math.round(perSecond.none)} runs/s without a shadow, ${Math.round(perSecond.followed)} with one`)
    return { throughputVsNone: perSecond.followed / perSecond.none }
  })
  return [
    judge('shadow.throughputVsNone', figures.throughputVsNone, 'ratio', GOALS.throughputVsNone),
    judge('shadow.lagMs', await measureLag(followed), 'ms', { atMost: 10_000 }),
  ]
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
  await until(file, `SELECT count(*) < 1 FROM run WHERE status IN ('pending', 'running')`)
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
