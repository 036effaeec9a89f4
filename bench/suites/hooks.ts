import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomWord, spellBytes } from '../../src/core/ids.ts'
import { findFreePort } from '../../test/support/free-port.ts'
import { EVENT_TYPE } from '../deliveries.ts'
import { startNodeSenders } from '../load/node-senders.ts'
import { DATABASES, openProject } from '../processes/open-project.ts'
import { type Goal, judge, type Result } from '../report/result.ts'
import { type BenchServer, startServer } from './postgres/bench-server.ts'
import type { Bench, Suite } from './suite.ts'

const FIGURES = ['answersPerSecond', 'lost', 'guessesPerSecond', 'guessed', 'goodShare'] as const
type Figures = Record<(typeof FIGURES)[number], number>

/** Answers at callback URLs of the whole app, alone and beside guesses of their tokens. */
export const hooks: Suite = {
  names: ['', 'Postgres'].flatMap((suffix) => FIGURES.map((figure) => `hooks.${figure}${suffix}`)),
  isSlow: true,
  run: runHooks,
}

const GOALS: Partial<Record<keyof Figures, Goal>> = {
  lost: { atMost: 0 },
  guessed: { atMost: 0 },
  goodShare: { atLeast: 0.99 },
}
const UNITS: Record<keyof Figures, string> = {
  answersPerSecond: '1/s',
  lost: 'answers',
  guessesPerSecond: '1/s',
  guessed: 'guesses',
  goodShare: 'ratio',
}

const AUTHOR = resolve(import.meta.dirname, '../../src/author/index.ts')
const CONNECTIONS = 50
/** Characters of a token that name its hook; the others prove that it is ours. */
const ID_LENGTH = 26

const WAITING = `import { appendFileSync } from 'node:fs'
import { defineWorkflow, z } from '${AUTHOR}'
export default defineWorkflow({
  id: 'waiting',
  on: '${EVENT_TYPE}',
  run: async ({ event, step }) => {
    const hook = await step.hook('scan', { data: z.object({ of: z.string() }), expires: '1d' })
    await step.run('order', () => appendFileSync('orders.txt', event.id + ' ' + hook.url + '\\n'))
    return (await step.waitFor('scanned', hook))?.data.of === event.id
  },
})
`

async function runHooks(bench: Bench): Promise<Result[]> {
  await using server = await startServer(bench)
  const results: Result[] = []
  for (const database of DATABASES) {
    await bench.patience.waitForCalm()
    const figures = await measure(bench, server, database)
    const suffix = database === 'postgres' ? 'Postgres' : ''
    for (const name of FIGURES) results.push(judge(`hooks.${name}${suffix}`, figures[name], UNITS[name], GOALS[name]))
  }
  return results
}

interface Order {
  event: string
  path: string
}

async function measure(bench: Bench, server: BenchServer, database: (typeof DATABASES)[number]): Promise<Figures> {
  const [hooks, guesses] = bench.isQuick ? [400, 4_000] : [10_000, 100_000]
  const port = await findFreePort()
  const own = { UPSHOT_PORT: `${port}`, UPSHOT_PUBLIC_URL: `http://127.0.0.1:${port}` }
  const environment = { ...own, UPSHOT_SLOTS: '200' }
  const modules = { 'waiting.workflow.ts': WAITING }
  await using project = await openProject(bench, { database, server, modules, environment })
  const endpoint = project.app.urls['endpoint service'] ?? ''
  await using load = await startNodeSenders()
  // Half of the hooks are answered alone, the others beside the guesses.
  const deliveries = { ...bench.deliveries, from: 0, count: 2 * hooks }
  await load.send({ url: endpoint, connections: CONNECTIONS, seconds: 600, deliveries })
  const orders = await readOrders(join(project.root, 'orders.txt'), 2 * hooks)
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const answer = async ({ event, path }: Order) => (await post(agent, new URL(path, endpoint), { of: event })) === 200
  const begunAt = performance.now()
  await inLanes(CONNECTIONS, orders.slice(0, hooks), answer)
  const aloneMs = performance.now() - begunAt
  let [guessed, good] = [0, 0]
  const attackedAt = performance.now()
  const attack = inLanes(
    CONNECTIONS - 10,
    Array.from({ length: guesses }, (_, n) => n),
    async (n) => {
      // Every second guess has the id of a hook.
      const { path = '' } = orders[n % orders.length] ?? {}
      const id = n % 2 === 0 ? path.slice('/callbacks/'.length).slice(0, ID_LENGTH) : inventId()
      if ((await post(agent, new URL(`/callbacks/${id}${randomWord()}`, endpoint), { of: '' })) !== 404) guessed += 1
    },
  )
  const answers = inLanes(10, orders.slice(hooks), async (order) => {
    if (await answer(order)) good += 1
  })
  await Promise.all([attack, answers])
  const attackMs = performance.now() - attackedAt
  agent.destroy()
  await project.rest(120)
  const [found] = await project.query<{ right: number | string }>(
    `SELECT count(*) AS right FROM full_run WHERE status = 'completed' AND output = 'true'`,
  )
  bench.say(`  ${database}: ${2 * hooks} hooks, half of them beside ${guesses} guesses`)
  return {
    answersPerSecond: (hooks * 1_000) / aloneMs,
    lost: Math.abs(2 * hooks - Number(found?.right)),
    guessesPerSecond: (guesses * 1_000) / attackMs,
    guessed,
    goodShare: good / hooks,
  }
}

function inventId(): string {
  return spellBytes(Buffer.from(randomWord())).slice(0, ID_LENGTH)
}

/** Resolves once all runs have ordered their scan, with the paths of their URLs. */
async function readOrders(file: string, count: number): Promise<Order[]> {
  for (;;) {
    const lines = readFileSync(file, 'utf8').trim().split('\n')
    if (lines.length >= count)
      return lines.slice(0, count).map((line) => {
        const [event = '', url = ''] = line.split(' ')
        return { event, path: new URL(url).pathname }
      })
    await sleep(100)
  }
}

async function inLanes<Item>(lanes: number, items: readonly Item[], act: (item: Item) => Promise<unknown>) {
  const left = items.values()
  const work = async () => {
    for (const item of left) await act(item)
  }
  await Promise.all(Array.from({ length: lanes }, work))
}

/** The status of an answer. */
async function post(agent: Agent, url: URL, body: object): Promise<number> {
  const sending = request(url, { method: 'POST', agent, headers: { 'Content-Type': 'application/json' } })
  sending.end(JSON.stringify(body))
  const [response] = await once(sending, 'response')
  response.resume()
  await once(response, 'end')
  return response.statusCode
}
