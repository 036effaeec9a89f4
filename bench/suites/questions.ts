import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { indexSubjects } from '../../src/schedule/follow-events.ts'
import { countDueHours } from '../../src/schedule/hour-counter.ts'
import { SERVICE } from '../load/paced-deliveries.ts'
import { type History, prefillHistory } from '../prefill/prefill-history.ts'
import { startApp } from '../processes/app-process.ts'
import { openStore } from '../processes/open-store.ts'
import { judge, percentile, type Result } from '../report/result.ts'
import type { Bench, Suite } from './suite.ts'

/** Questions of the dashboard about a long history, by HTTP and of the whole app. */
export const questions: Suite = {
  names: [
    'questions.listMs',
    'questions.searchMs',
    'questions.overviewMs',
    'questions.runMs',
    'questions.hoursPerSecond',
  ],
  isSlow: true,
  run: runQuestions,
}

const GOALS = {
  list: { atMost: 50 },
  search: { atMost: 300 },
  overview: { atMost: 20 },
  run: { atMost: 60 },
} as const
const TIMES = 40

interface Kinds {
  list: string[]
  search: string[]
  overview: string[]
  run: string[]
}

async function runQuestions(bench: Bench): Promise<Result[]> {
  const runs = bench.isQuick ? 1_000_000 : 10_000_000
  const root = mkdtempSync(join(bench.folder, 'questions-'))
  for (const each of ['workflows', 'data']) mkdirSync(join(root, each))
  const file = join(root, 'data/upshot.db')
  const now = Date.now()
  const history = prefillHistory(file, { runs, steps: 1_000, outputBytes: 10 }, now)
  const hoursPerSecond = await catchUp(file, now)
  await using app = await startApp({ root, environment: SERVICE })
  const token = readFileSync(join(root, 'data/admin.token'), 'utf8').trim()
  const ask = async (path: string) => {
    const begunAt = performance.now()
    const response = await fetch(`${app.urls.admin}/api/v1${path}`, { headers: { Authorization: `Bearer ${token}` } })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${path} was answered: ${text}`)
    return performance.now() - begunAt
  }
  await bench.patience.waitForCalm()
  const worst = { list: 0, search: 0, overview: 0, run: 0 }
  for (const [kind, paths] of Object.entries(listQuestions(history)) as [keyof Kinds, string[]][]) {
    for (const path of paths) {
      for (let warm = 0; warm < 3; warm++) await ask(path)
      const times: number[] = []
      for (let time = 0; time < TIMES; time++) times.push(await ask(path))
      const p95 = percentile(times, 0.95)
      bench.say(`  ${p95.toFixed(1).padStart(7)} ms  ${kind.padEnd(8)} ${path}`)
      worst[kind] = Math.max(worst[kind], p95)
    }
  }
  bench.say(`  the slowest question of each kind, 95 of 100 answers, at ${runs} runs`)
  return [
    judge('questions.listMs', worst.list, 'ms', GOALS.list),
    judge('questions.searchMs', worst.search, 'ms', GOALS.search),
    judge('questions.overviewMs', worst.overview, 'ms', GOALS.overview),
    judge('questions.runMs', worst.run, 'ms', GOALS.run),
    judge('questions.hoursPerSecond', hoursPerSecond, '1/s'),
  ]
}

/** Does all work of the scheduler's background at once; returns the counted hours per second. */
async function catchUp(file: string, now: number): Promise<number> {
  const store = await openStore({ file })
  const begunAt = performance.now()
  const hours = await countDueHours(store, now)
  const seconds = (performance.now() - begunAt) / 1_000
  await indexSubjects(store)
  await store.close()
  return hours / seconds
}

/** A list by each filter alone; a search is what no index answers. */
function listQuestions({ longRun, group }: History): Kinds {
  const runsBy = ['failed', 'canceled', 'waiting', 'running', 'pending', 'completed'].map((each) => `status=${each}`)
  const more = ['needsPerson=true', 'workflow=ingest', 'event=evt_0000012345', `group=${group}`]
  const since = ['since=2h', 'since=30d', 'until=30d', `parent=${longRun}`]
  const events = [
    'type=file.created',
    'type=file.*',
    'account=default',
    'path=storage_a:/in/1/ledger-997.json',
    'since=2h',
  ]
  const inbound = ['verdict=accepted', 'verdict=stale', 'verdict=conflict']
  return {
    list: [
      '/runs',
      '/events',
      '/deliveries',
      '/failures',
      ...[...runsBy, ...more, ...since].map((each) => `/runs?${each}`),
      ...events.map((each) => `/events?${each}`),
      ...inbound.map((each) => `/deliveries?${each}`),
    ],
    search: [
      ...['q=may+not+delete', 'q=no+such+error', 'step=copy', 'step=none', 'origin=replay', 'workflow=rare'].map(
        (each) => `/runs?${each}`,
      ),
      ...['q=ledger-12', 'q=nowhere', 'path=/nowhere/*', 'account=none', 'type=no.such'].map(
        (each) => `/events?${each}`,
      ),
    ],
    overview: ['/overview'],
    run: [`/runs/${longRun}/steps`],
  }
}
