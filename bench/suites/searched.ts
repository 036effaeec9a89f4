import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join, resolve } from 'node:path'
import { EVENT_TYPE } from '../deliveries.ts'
import { PACE_MS, SERVICE, sendPaced } from '../load/paced-deliveries.ts'
import { prefillEvents } from '../prefill/prefill-events.ts'
import { startApp } from '../processes/app-process.ts'
import { judge, percentile, type Result } from '../report/result.ts'
import { inTurn, measureRounds } from '../report/rounds.ts'
import type { Bench, Suite } from './suite.ts'

/** Deliveries to the whole app while persons search its history. */
export const searched: Suite = {
  names: ['searched.p99VsCalm', 'searched.p99Ms', 'searched.calmMs'],
  isSlow: true,
  run: runSearched,
}

const GOALS = { p99VsCalm: { atMost: 1.2 } } as const
const AUTHOR = resolve(import.meta.dirname, '../../src/author/index.ts')
const SEARCH_EVERY_MS = 200
/** Searches that look far: nothing in the history fits them. */
const SEARCHES = [
  '/events?q=nowhere',
  '/events?path=/nowhere/*',
  '/runs?q=no+such+error',
  '/runs?step=none',
  '/events?account=none',
]

async function runSearched(bench: Bench): Promise<Result[]> {
  const stored = bench.isQuick ? 100_000 : 1_000_000
  const deliveries = bench.isQuick ? 400 : 2_000
  const root = makeProject(bench.folder)
  prefillEvents(join(root, 'data/upshot.db'), stored)
  await using app = await startApp({ root, environment: SERVICE })
  const agent = new Agent({ keepAlive: true })
  const token = readFileSync(join(root, 'data/admin.token'), 'utf8').trim()
  const send = async () => percentile(await sendPaced(app.urls['endpoint service'] ?? '', agent, deliveries), 0.99)
  const search = (path: string) =>
    fetch(`${app.urls.admin}/api/v1${path}`, { headers: { Authorization: `Bearer ${token}` } }).then(checkAnswer)
  await send()
  for (const path of SEARCHES) await search(path)
  const rounds = bench.quickRounds ?? { min: 5, max: 9 }
  const figures = await measureRounds(rounds, GOALS, async (round) => {
    await bench.patience.waitForCalm()
    const p99 = { calm: 0, searched: 0 }
    for (const rival of inTurn(['calm', 'searched'] as const, round)) {
      const end = rival === 'searched' ? searchOften(search) : async () => {}
      p99[rival] = await send()
      await end()
    }
    return { p99VsCalm: p99.searched / p99.calm, p99Ms: p99.searched, calmMs: p99.calm }
  })
  agent.destroy()
  bench.say(`  ${deliveries} deliveries, one every ${PACE_MS} ms, beside five searches a second of ${stored} events`)
  return [
    judge('searched.p99VsCalm', figures.p99VsCalm, 'ratio', GOALS.p99VsCalm),
    judge('searched.p99Ms', figures.p99Ms, 'ms'),
    judge('searched.calmMs', figures.calmMs, 'ms'),
  ]
}

/** Begins five searches a second; the result ends them, and throws what one of them threw. */
function searchOften(search: (path: string) => Promise<void>): () => Promise<void> {
  const searches: Promise<void>[] = []
  let count = 0
  const timer = setInterval(() => searches.push(search(SEARCHES[count++ % SEARCHES.length] ?? '')), SEARCH_EVERY_MS)
  return async () => {
    clearInterval(timer)
    await Promise.all(searches)
  }
}

async function checkAnswer(response: Response): Promise<void> {
  const text = await response.text()
  // The API asks persons in a hurry to wait, which is an answer, too.
  if (response.status !== 200 && response.status !== 429) throw new Error(`a search was answered: ${text}`)
}

function makeProject(folder: string): string {
  const root = mkdtempSync(join(folder, 'searched-'))
  for (const each of ['workflows', 'data']) mkdirSync(join(root, each))
  writeFileSync(
    join(root, 'workflows/harmless.workflow.ts'),
    `import { defineWorkflow } from '${AUTHOR}'
export default defineWorkflow({ id: 'harmless', on: '${EVENT_TYPE}', run: ({ step }) => step.run('only', () => {}) })`,
  )
  return root
}
