import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { EVENT_TYPE } from '../deliveries.ts'
import { SERVICE } from '../load/paced-deliveries.ts'
import { type AppProcess, startApp } from '../processes/app-process.ts'
import type { Target } from '../processes/child.ts'
import { judge, median, type Result } from '../report/result.ts'
import { inTurn } from '../report/rounds.ts'
import { CONNECTIONS, MAX_STORED_PER_SECOND } from './ingest-burst.ts'
import type { Bench, Suite } from './suite.ts'

/**
 * The belt of the whole app, with its threads and its log, beside the one by hand. The suite of the
 * engine has receiver and worker in one thread.
 */
export const appBelt: Suite = {
  names: ['appBelt.eventsPerSecond', 'appBelt.vsByHand', 'process.restedMb'],
  isSlow: true,
  run: runAppBelt,
}

const AUTHOR = resolve(import.meta.dirname, '../../src/author/index.ts')
const WORKFLOW = `import { defineWorkflow } from '${AUTHOR}'
export default defineWorkflow({
  id: 'measured',
  on: '${EVENT_TYPE}',
  run: async ({ step }) => {
    for (const name of ['one', 'two', 'three']) await step.run(name, () => name)
  },
})
`
const IS_IDLE = `SELECT count(*) FROM work WHERE status IN ('pending', 'running')`
/** Time in which an idle app frees what a burst left behind. */
const REST_MS = 16_000

const RIVALS = ['app', 'byHand'] as const

async function runAppBelt(bench: Bench): Promise<Result[]> {
  await using byHand = bench.startTarget('belt-by-hand.ts')
  const url = await byHand.call<string>('open', { file: join(bench.folder, 'beside-app.db') })
  const { app, file } = await startBelt(bench)
  await using _app = app
  const rates: Record<(typeof RIVALS)[number], number[]> = { app: [], byHand: [] }
  for (let round = 0; round <= (bench.isQuick ? 3 : 9); round++) {
    await bench.patience.waitForCalm()
    const found = { app: 0, byHand: 0 }
    for (const rival of inTurn(RIVALS, round)) {
      found[rival] =
        rival === 'app'
          ? await burstThroughApp(bench, { app, file, round })
          : await burstByHand(bench, byHand, url, round)
    }
    bench.say(`  ${Math.round(found.app)} events/s through the app, by hand ${Math.round(found.byHand)}`)
    // The first round compiles everything.
    if (round > 0) for (const rival of RIVALS) rates[rival].push(found[rival])
  }
  const ratios = rates.app.map((rate, round) => rate / (rates.byHand[round] ?? Number.NaN))
  await sleep(REST_MS)
  return [
    judge('appBelt.eventsPerSecond', median(rates.app), 'events/s'),
    judge('appBelt.vsByHand', median(ratios), 'ratio'),
    judge('process.restedMb', app.residentMb(), 'MB', { atMost: 250 }),
  ]
}

/** The whole app with one workflow of three steps, and the file of its database. */
export async function startBelt(bench: Bench): Promise<{ app: AppProcess; file: string }> {
  const root = mkdtempSync(join(bench.folder, 'belt-'))
  for (const each of ['workflows', 'data']) mkdirSync(join(root, each))
  writeFileSync(join(root, 'workflows/measured.workflow.ts'), WORKFLOW)
  return { app: await startApp({ root, environment: SERVICE }), file: join(root, 'data/upshot.db') }
}

function sliceOf(bench: Bench, round: number) {
  const seconds = bench.isQuick ? 1 : 5
  const count = seconds * MAX_STORED_PER_SECOND
  return { connections: CONNECTIONS, seconds, deliveries: { ...bench.deliveries, from: round * count, count } }
}

async function burstByHand(bench: Bench, target: Target, url: string, round: number): Promise<number> {
  const before = await target.call<number>('expectBurst')
  const { answered } = await bench.load.send({ url, ...sliceOf(bench, round) })
  return (answered / (await target.call<number>('msOfBurst', before + answered))) * 1_000
}

/** Events a second, from the first delivery until no run is left. */
async function burstThroughApp(
  bench: Bench,
  { app, file, round }: { app: AppProcess; file: string; round: number },
): Promise<number> {
  const begunAt = performance.now()
  const { answered } = await bench.load.send({ url: app.urls['endpoint service'] ?? '', ...sliceOf(bench, round) })
  const db = new Database(file, { readonly: true })
  const left = db.prepare<[], number>(IS_IDLE).pluck()
  while (left.get() !== 0) await sleep(20)
  db.close()
  return (answered / (performance.now() - begunAt)) * 1_000
}
