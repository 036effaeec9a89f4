import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Quarantine } from '../../src/app/engine/quarantine.ts'
import { systemClock } from '../../src/core/time.ts'
import { createNoticeBus } from '../../src/notices/notice-bus.ts'
import { openSharedStore, type StoreOptions } from '../../src/store/open-store.ts'
import { queueRun } from '../support/fixtures.ts'
import { makeSchema } from '../support/postgres-store.ts'
import { DOOR } from '../support/program.ts'
import { makeProject } from '../support/start-process.ts'
import { testConfig } from '../support/test-config.ts'

const define = (id: string, step: string) => `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: '${id}', on: '*', run: ({ step }) => step.run('do', async () => { ${step} }) })`
const KEY = Buffer.alloc(32)
const LONG = define('long', 'await new Promise((done) => setTimeout(done, 1_500))')

/** A quarantine with two suspects; the first works for longer than it is alone at first. */
async function tryBoth(deed: string, place?: StoreOptions) {
  const root = makeProject({ 'long.workflow.js': LONG, 'deadly.workflow.js': define('deadly', deed) })
  const engine = { hangMs: 500, heapBytes: 2 ** 28, memoryBytes: 2 ** 35 }
  const config = { ...testConfig(root), traces: null, aloneMs: 500, engine }
  const storeOptions = place ?? { file: join(root, 'upshot.db'), vaultKey: KEY }
  const store = await openSharedStore(storeOptions)
  const [long, deadly] = [await queueRun(store, 'evt_1', 'long'), await queueRun(store, 'evt_2', 'deadly')]
  await store.startWorker('wrk_dead', Date.now())
  await store.claimRuns('wrk_dead', 2, Date.now())
  await store.endWorker('wrk_dead')

  const notices = createNoticeBus()
  const shared = notices.once('engine.ended', ({ runs }) => runs.length === 2)
  const quarantine = new Quarantine({ config, storeOptions, store, clock: systemClock, notices })
  onTestFinished(async () => {
    await quarantine.stop()
    await store.close()
  })
  const access = { baseUrl: 'http://127.0.0.1:1', apiKey: 'none', fallbackKey: null, storages: {} }
  quarantine.start({ ...access, plan: 'enterprise' })
  const statusOf = async (run: string) => (await store.findRun(run))?.status
  return { notices, shared, statusOf, long, deadly }
}

function onPostgres(): StoreOptions {
  const { url, schema } = makeSchema()
  return { hosts: [{ connectionString: url }], schema, vaultKey: KEY, mayMigrate: true }
}

const PLACES = [
  { database: 'SQLite', place: () => undefined },
  { database: 'PostgreSQL', place: onPostgres },
]

test.each(PLACES)('a run that kills it beside others is alone at later deaths: $database', async ({ place }) => {
  const kill = "process.kill(process.pid, 'SIGKILL')"
  const { notices, shared, statusOf, long, deadly } = await tryBoth(kill, place())
  const parked = notices.once('run.parked')
  await shared
  expect(await parked).toMatchObject({ run: deadly, reason: expect.stringContaining('5 times') })
  expect(await statusOf(long)).toBe('completed')
})

test('the suspect beside a run whose native code ends the quarantine is alone for longer each time', async () => {
  const block = "process.getBuiltinModule('child_process').execFileSync('sleep', ['60'])"
  const { shared, statusOf, long } = await tryBoth(block)
  await shared
  await expect.poll(() => statusOf(long), { timeout: 200_000 }).toBe('completed')
})
