import { resolve } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { handConfig } from '../../../src/app/engine/engine-config.ts'
import type { QuarantineStart } from '../../../src/app/engine/quarantine.ts'
import { Child } from '../../../src/app/preview/child/child.ts'
import type { Notice } from '../../../src/core/notices.ts'
import { findFreePort } from '../../support/free-port.ts'
import { Network } from '../../support/network.ts'
import { postDelivery } from '../../support/post-delivery.ts'
import { startPostgres, type TestServer } from '../../support/postgres-server.ts'
import { CLI } from '../../support/program.ts'
import { startIn } from '../../support/start-process.ts'
import { testConfig, WEBHOOK_SECRET } from '../../support/test-config.ts'
import { Cluster, type Process } from './cluster.ts'

const QUARANTINE = resolve(import.meta.dirname, '../../../src/app/engine/quarantine-main.ts')

let server: TestServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.stop())

const STEPS = ['first', 'second', 'third']
const nameEvents = (count: number) => Array.from({ length: count }, (_, n) => `evt_${n}`)
const effectsOf = (events: readonly string[]) => events.flatMap((id) => STEPS.map((step) => `${id} ${step}`)).sort()

let schemas = 0

/** A cluster in a schema that it has made. `port`: of a network before the server. */
async function startCluster(port = server.port): Promise<Cluster> {
  const schema = `cluster_${++schemas}`
  await new Cluster({ url: server.url, schema }).command('db', 'migrate')
  return new Cluster({ url: server.url.replace(`:${server.port}/`, `:${port}/`), schema })
}

/** Delivers until it is taken, as the service does. */
async function deliver({ endpoint }: Process, id: string): Promise<void> {
  while ((await postDelivery(endpoint, WEBHOOK_SECRET, id)).status !== 200);
}

async function askReady({ admin }: Process) {
  const startedAt = performance.now()
  const answer = await fetch(`${admin}/readyz`)
  expect(performance.now() - startedAt).toBeLessThan(ANSWER_WITHIN_MS)
  const { checks } = (await answer.json()) as { checks: Record<string, string> }
  return { status: answer.status, writable: checks.writable ?? '' }
}

/** An answer about readiness takes 6 s at most, and longer only where the machine is busy. */
const ANSWER_WITHIN_MS = 30_000

async function untilReady(app: Process): Promise<number> {
  const startedAt = performance.now()
  while ((await askReady(app)).status !== 200);
  return performance.now() - startedAt
}

/** Time in which an app goes on by itself once its database is back. */
const BACK_WITHIN_MS = 30_000

test('an app whose server is killed says so, and goes on by itself when it is back', async () => {
  const cluster = await startCluster()
  const app = await cluster.start('all')
  const events = nameEvents(20)
  const half = events.slice(0, 10)
  await Promise.all(half.map((id) => deliver(app, id)))
  await server.kill()
  // Its sessions answer until they notice that it was killed.
  const writable = expect.stringContaining('does not answer (ECONNREFUSED)')
  await expect.poll(() => askReady(app)).toMatchObject({ status: 503, writable })
  const others = Promise.all(events.slice(10).map((id) => deliver(app, id)))
  await server.start()
  expect(await untilReady(app)).toBeLessThan(BACK_WITHIN_MS)
  await others
  const store = await cluster.open()
  await cluster.completed(store, events.length)
  const effects = cluster.effects().toSorted()
  expect([...new Set(effects)]).toEqual(effectsOf(events))
  // A worker that is silent for 3 s counts as dead, and the steps at hand repeat.
  const wasDead = app.lines.some(({ message }) => message === 'runs of a dead worker recovered')
  if (!wasDead) expect(effects).toEqual(effectsOf(events))
})

test('a process that starts while its server is away waits, live and not ready; a command ends', async () => {
  const cluster = await startCluster()
  const [port, admin] = [await findFreePort(), await findFreePort()]
  await server.kill()
  const fault = await cluster.command('runs', 'list').catch(({ stderr }) => String(stderr))
  expect(fault).toContain('does not answer (ECONNREFUSED)')
  expect(fault).not.toContain('by itself')
  const starting = cluster.start('all', { UPSHOT_PORT: `${port}`, UPSHOT_ADMIN_PORT: `${admin}` })
  const ask = (path: string) => fetch(`http://127.0.0.1:${admin}${path}`)
  await expect
    .poll(() =>
      ask('/livez')
        .then(({ status }) => status)
        .catch(() => 0),
    )
    .toBe(200)
  const ready = await ask('/readyz')
  expect(ready.status).toBe(503)
  expect(await ready.json()).toMatchObject({ checks: { writable: expect.stringContaining('does not answer') } })
  const refused = () => fetch(`http://127.0.0.1:${port}/hooks/any`, { method: 'POST', body: '{}' })
  await expect
    .poll(() =>
      refused()
        .then(({ status }) => status)
        .catch(() => 0),
    )
    .toBe(503)
  await server.start()
  const app = await starting
  await deliver(app, 'evt_1')
  expect(app.lines.filter(({ message }) => message === 'waiting for the database')).toHaveLength(1)
})

test('a process that waits for its server ends at once when it is told to', async () => {
  const cluster = await startCluster()
  await server.kill()
  const { line, child, exited } = startIn(cluster.root, cluster.environment, ['--role', 'worker'])
  await line(({ message }) => message === 'waiting for the database')
  child.kill('SIGTERM')
  expect(await exited).toEqual({ code: 0, signal: null })
  await server.start()
})

test('the process that tries suspects waits for a server that is away as it starts', async () => {
  const cluster = await startCluster()
  await server.kill()
  const awaited = Promise.withResolvers<void>()
  const child = new Child({
    name: 'The quarantine process',
    entry: QUARANTINE,
    handlers: {
      heard: (notices: readonly Notice[]) => {
        if (notices.some(({ kind }) => kind === 'store.awaited')) awaited.resolve()
      },
    },
  })
  onTestFinished(() => child[Symbol.asyncDispose]())
  const start: QuarantineStart = {
    config: {
      ...handConfig({ ...testConfig(cluster.root), traces: null }),
      engine: { hangMs: 10_000, heapBytes: 2 ** 28, memoryBytes: 2 ** 35 },
    },
    storeOptions: { hosts: [{ connectionString: server.url }], schema: cluster.schema, vaultKey: Buffer.alloc(32) },
    access: { baseUrl: 'http://127.0.0.1:1', apiKey: 'none', fallbackKey: null, plan: 'enterprise', storages: {} },
    variables: {},
  }
  child.tell('start', start)
  expect(await Promise.race([awaited.promise, child.ended])).toBeUndefined()
  await server.start()
  expect(await child.ended).toMatchObject({ code: 0 })
})

test('sessions that are cut at random moments lose nothing and repeat nothing', async () => {
  const cluster = await startCluster()
  const [app, worker] = await Promise.all([cluster.start('all'), cluster.start('worker')])
  const session = new pg.Client(server.url)
  await session.connect()
  onTestFinished(() => session.end())
  const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'upshot' AND random() < 0.2`
  const store = await cluster.open()
  const events = nameEvents(40)
  let isOver = false
  const cutting = (async () => {
    // Each round waits for an answer of the app, so that a machine of any speed has gaps.
    while (!isOver) {
      await session.query(cut)
      await askReady(app)
    }
  })()
  await Promise.all(events.map((id) => deliver(app, id)))
  await cluster.completed(store, events.length)
  isOver = true
  await cutting
  expect(cluster.effects().toSorted()).toEqual(effectsOf(events))
  expect((await store.listRuns({ workflow: 'follow-up', limit: 99 })).length).toBe(events.length)
  expect(worker.errors() + app.errors()).not.toContain('DeprecationWarning')
})

test('a worker that is paused beyond its lease is refused, and ends its pass', async () => {
  const cluster = await startCluster()
  const [worker, receiver] = await Promise.all([cluster.start('worker'), cluster.start('receiver')])
  cluster.hang()
  await deliver(receiver, 'evt_1')
  const { run } = await worker.line(({ message }) => message === 'in the second step')
  const other = await cluster.start('worker')
  worker.child.kill('SIGSTOP')
  const session = new pg.Client({ connectionString: server.url, options: `-c search_path=cluster_${schemas}` })
  await session.connect()
  onTestFinished(() => session.end())
  // Its silence of 15 seconds is moved, not waited for.
  await session.query(
    'UPDATE worker SET seen_at = seen_at - 15000 WHERE id = (SELECT worker FROM work WHERE run_id = $1)',
    [run],
  )
  await other.line((line) => line.message === 'in the second step' && line.run === run)
  cluster.goOn()
  await other.line((line) => line.message === 'run completed' && line.run === run)
  worker.child.kill('SIGCONT')
  await worker.line((line) => line.message === 'run taken over by another worker or a person' && line.run === run)
  // The step that was at work when it was paused may have an effect twice; no later one has.
  expect(cluster.effects().filter((effect) => effect === 'evt_1 third')).toHaveLength(1)
  const store = await cluster.open()
  expect(await store.findRun(String(run))).toMatchObject({ status: 'completed', output: '"evt_1"' })
})

test('a network that swallows everything costs no delivery and no run', async () => {
  const network = await Network.open(server.port)
  const cluster = await startCluster(network.port)
  const app = await cluster.start('all')
  const events = nameEvents(10)
  await deliver(app, 'evt_0')
  network.swallow()
  const others = Promise.all(events.slice(1).map((id) => deliver(app, id)))
  expect(await askReady(app)).toMatchObject({ status: 503, writable: expect.stringContaining('does not answer') })
  network.heal()
  await others
  const store = await cluster.open()
  await cluster.completed(store, events.length)
  expect(cluster.effects().toSorted()).toEqual(effectsOf(events))
})

test('a stop ends within 25 s where the network swallows everything', async () => {
  const network = await Network.open(server.port)
  const cluster = await startCluster(network.port)
  const app = await cluster.start('all')
  const own = { ...cluster.environment, UPSHOT_DATA_DIR: 'data-command' }
  const command = startIn(cluster.root, own, ['start', '--rehearse'], CLI)
  await command.line(({ message }) => message === 'started')
  await deliver(app, 'evt_0')
  network.swallow()
  const startedAt = performance.now()
  for (const { child } of [app, command]) child.kill('SIGTERM')
  // A container is killed after 30 s.
  expect(await app.exited).toMatchObject({ code: 1 })
  expect(await command.exited).toMatchObject({ code: 6 })
  expect(performance.now() - startedAt).toBeLessThan(25_000)
  expect(command.errors()).toContain('does not answer')
})

test('a server without connections for all of them is shared, and said to be full', async () => {
  const session = new pg.Client(server.url)
  await session.connect()
  onTestFinished(() => session.end())
  const cluster = await startCluster()
  // The app may open ten; one reads, one writes, one listens.
  await session.query(`CREATE ROLE crowded LOGIN SUPERUSER`)
  await session.query(`ALTER ROLE crowded NOSUPERUSER CONNECTION LIMIT 4`)
  await session.query(`GRANT USAGE ON SCHEMA cluster_${schemas} TO crowded`)
  await session.query(`GRANT ALL ON ALL TABLES IN SCHEMA cluster_${schemas} TO crowded`)
  await session.query(`GRANT ALL ON ALL SEQUENCES IN SCHEMA cluster_${schemas} TO crowded`)
  const url = `${cluster.environment.UPSHOT_DATABASE_URL}`.replace('postgres@', 'crowded@')
  const app = await cluster.start('all', { UPSHOT_DATABASE_URL: url })
  const events = nameEvents(20)
  await Promise.all(events.map((id) => deliver(app, id)))
  const store = await cluster.open()
  await cluster.completed(store, events.length)
  expect(cluster.effects().toSorted()).toEqual(effectsOf(events))
})
