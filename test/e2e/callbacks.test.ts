import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import { callbackUrl } from '../../src/core/incoming/hook.ts'
import { DATABASES, type DatabaseName, silenceWorkers } from '../support/databases.ts'
import { findFreePort } from '../support/free-port.ts'
import { openDataDir } from '../support/open-data-dir.ts'
import { makeSchema } from '../support/postgres-store.ts'
import { DOOR } from '../support/program.ts'
import { makeProject, startIn } from '../support/start-process.ts'
import { Cluster } from './postgres/cluster.ts'

/** `UPSHOT_TEST_HOOKS=10000 UPSHOT_TEST_KILLS=20` is the size of the promise. */
const HOOKS = Number(process.env.UPSHOT_TEST_HOOKS ?? 60)
const KILLS = Number(process.env.UPSHOT_TEST_KILLS ?? 2)
const CONNECTIONS = 50
const BOUND = { timeout: 3_600_000 }

const WAITING = `
import { callable, defineWorkflow, z } from '${DOOR}'

export default defineWorkflow({
  id: 'waiting',
  on: callable(z.object({ n: z.int() })),
  async run({ step }) {
    const hook = await step.hook('scan', { data: z.object({ n: z.int() }), expires: '1d' })
    return (await step.waitFor('scanned', hook))?.data.n
  },
})
`

const MODULES = { 'waiting.workflow.js': WAITING }

/** A project on a database of its own. `open` gives its store, once an app has started. */
async function openProject(database: DatabaseName) {
  if (database === 'SQLite') {
    const root = makeProject(MODULES)
    const open = async () => openDataDir({ dataDir: join(root, 'data'), secretKey: null })
    return { root, environment: {}, open, bury: async () => {} }
  }
  const place = makeSchema()
  const cluster = new Cluster(place, {}, MODULES)
  await cluster.command('db', 'migrate')
  const { root, environment } = cluster
  return { root, environment, open: () => cluster.open(), bury: () => silenceWorkers(place) }
}

/** A project whose runs wait for the answers of their hooks, and its address over restarts. */
async function startWaiting(database: DatabaseName) {
  const { root, environment, open, bury } = await openProject(database)
  const port = await findFreePort()
  const own = { UPSHOT_PORT: String(port), UPSHOT_LOG_LEVEL: 'info' }
  const start = () => startIn(root, { ...environment, ...own })
  const first = start()
  await first.line(({ message }) => message === 'started')
  const store = await open()
  if (database === 'SQLite') onTestFinished(() => store.close())
  const origin = `http://127.0.0.1:${port}`
  const runs: { run: string; n: number; url: string }[] = []
  const key = await store.loadHookKey()
  for (let n = 0; n < HOOKS; n++) {
    const run = newId('run', Date.now())
    const start = { run, workflow: 'waiting', account: 'default', input: JSON.stringify({ n }), createdAt: Date.now() }
    await store.startRun(start)
    runs.push({ run, n, url: '' })
  }
  for (const each of runs) {
    let [hook] = await store.listHooks(each.run)
    for (; hook === undefined; [hook] = await store.listHooks(each.run)) await sleep(50)
    each.url = callbackUrl({ origin, key }, hook.id)
  }
  return { start, first, store, runs, bury }
}

const say = (line: string) => process.stdout.write(`callbacks: ${line}\n`)
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })

/** The status of an answer; 0 where nobody answered. */
async function post(url: string, body: object): Promise<number> {
  const sent = request(url, { method: 'POST', agent, headers: { 'Content-Type': 'application/json' } })
  sent.on('error', () => {})
  sent.end(JSON.stringify(body))
  try {
    const [response] = await once(sent, 'response')
    await text(response)
    return response.statusCode
  } catch {
    return 0
  }
}

/** Posts until the answer is taken, as a sender does that hears nothing. */
async function insist(url: string, n: number): Promise<void> {
  for (let status = 0; status !== 200; ) {
    status = await post(url, { n })
    if (![0, 200, 503].includes(status)) throw new Error(`the answer ${n} got ${status}`)
    if (status !== 200) await sleep(20)
  }
}

test.each(DATABASES)(
  'each run gets its answer once, under 50 connections and SIGKILLs: %s',
  BOUND,
  async (database) => {
    const { start, first, store, runs, bury } = await startWaiting(database)
    let app = first
    let answered = 0
    const queue = [...runs]
    const senders = Array.from({ length: CONNECTIONS }, async () => {
      for (let next = queue.pop(); next; next = queue.pop()) {
        await insist(next.url, next.n)
        answered += 1
        // Repetitions and other answers change nothing, before and after the end of the run.
        if (next.n % 3 === 0) await insist(next.url, next.n)
        if (next.n % 5 === 0) expect([409, 410, 0, 503]).toContain(await post(next.url, { n: next.n + 1 }))
      }
    })
    for (let kill = 1; kill <= KILLS; kill++) {
      while (answered < (runs.length * kill) / (KILLS + 1)) await sleep(5)
      app.child.kill('SIGKILL')
      await app.exited
      await bury()
      app = start()
      await app.line(({ message }) => message === 'started')
    }
    await Promise.all(senders)
    let [lost, twice, wrong] = [0, 0, 0]
    for (const { run, n } of runs) {
      let found = await store.findRun(run)
      for (let tries = 0; found?.finishedAt === null && tries < 600; tries++) {
        await sleep(50)
        found = await store.findRun(run)
      }
      if (found?.status !== 'completed') lost += 1
      else if (found.output !== String(n)) wrong += 1
      const [hook] = await store.listHooks(run)
      if (hook?.answers !== 1) twice += 1
    }
    say(`${database}: ${runs.length} hooks, ${KILLS} SIGKILLs: ${lost} lost, ${twice} twice, ${wrong} wrong`)
    expect({ lost, twice, wrong }).toEqual({ lost: 0, twice: 0, wrong: 0 })
  },
)
