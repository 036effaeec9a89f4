import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { DatabaseClock } from '../../../src/app/engine/database/database-clock.ts'
import { CommitCounts } from '../../../src/core/commit-counts.ts'
import { planEndpoint } from '../../../src/core/incoming/endpoint.ts'
import type { NoticeOf } from '../../../src/core/notices.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { Database } from '../../../src/store/postgres/database/database.ts'
import { Pool } from '../../../src/store/postgres/database/pool.ts'
import { openPostgresStore } from '../../../src/store/postgres/open-postgres-store.ts'
import { claimNext } from '../../contract/support/claim-next.ts'
import { NOTICES } from '../../notices/support/notices.ts'
import { checkpoint, incoming, NOW, queueRun } from '../../support/fixtures.ts'
import { makeDatabase, openSession } from '../../support/postgres-store.ts'
import { openTestMetrics } from '../../watch/support/open-test-metrics.ts'
import { CommitNetwork } from './support/commit-network.ts'
import { awaitBlocked } from './support/open-two.ts'

/** A counted store behind a network, a session beside it, and what a scrape says. */
async function openWatched() {
  const { url, schema } = await makeDatabase()
  const place = new URL(url)
  const network = await CommitNetwork.open(Number(place.port))
  place.port = String(network.port)
  const memory = CommitCounts.allocate()
  const store: Store = await openPostgresStore({
    hosts: [{ connectionString: place.href }],
    directHosts: [{ connectionString: url }],
    schema,
    vaultKey: randomBytes(32),
    mayMigrate: true,
    commits: memory,
  })
  onTestFinished(() => store.close())
  const session = await openSession({ url, schema })
  const commits = new CommitCounts(memory)
  let offsetMs: number | null = null
  const { values, metrics } = openTestMetrics({
    store,
    commits,
    readServerState: () => store.readServerState(),
    isServer: true,
    clockOffsetMs: () => offsetMs,
  })
  const setOffset = (ms: number) => {
    offsetMs = ms
  }
  return { store, session, network, values, metrics, commits, setOffset, place: { url: place.href, schema } }
}

const moved = (values: Record<string, number>, prefix: string) =>
  Object.fromEntries(Object.entries(values).filter(([name, value]) => name.startsWith(prefix) && value > 0))

test('every series of the calls of PostgreSQL is there with 0 before the first call, and in the guide', async () => {
  const { store } = await openWatched()
  const { values } = openTestMetrics({
    store,
    readServerState: () => store.readServerState(),
    isServer: true,
    clockOffsetMs: () => 0,
  })
  const before = await values()
  const counted = Object.keys(before).filter((name) => /^upshot_postgres_(wait|repeats|unanswered|hint)_/.test(name))
  expect(counted.length).toBe(3 * 15 + 15 + 3 + 15)
  expect(moved(before, 'upshot_postgres_repeats')).toEqual({})
  expect(counted.filter((name) => before[name] !== 0)).toEqual([])
  const guide = readFileSync(resolve(import.meta.dirname, '../../../docs/scaling.md'), 'utf8')
  const families = Object.keys(before).map((name) => name.replace(/(_bucket|_sum|_count)?(\{.*)?$/, ''))
  const ours = [...new Set(families)].filter((name) => name.startsWith('upshot_postgres_'))
  expect(ours.filter((name) => !guide.includes(`\`${name}\``))).toEqual([])
})

test('calls that wait for others share a commit, and their waits are counted by what they waited for', async () => {
  const { store, session, values } = await openWatched()
  await queueRun(store, 'evt_0')
  const before = await values()
  await session.query('BEGIN')
  await session.query('SELECT * FROM stream FOR UPDATE')
  const first = store.saveDelivery(incoming('evt_1'))
  await awaitBlocked(session)
  const others = Array.from({ length: 20 }, (_, n) => store.saveDelivery(incoming(`evt_more_${n}`)))
  const askedAt = performance.now()
  while (performance.now() - askedAt < 30) await session.query('SELECT 1')
  await session.query('COMMIT')
  await Promise.all([first, ...others])
  const { lease } = await claimNext(store)
  await store.saveCheckpoint(lease, checkpoint('a'))
  const after = await values()
  const grown = (name: string) => (after[name] ?? 0) - (before[name] ?? 0)
  // One of the event before, one of the twenty behind it, the claim and the step.
  expect(grown('upshot_store_commit_writes_count')).toBe(4)
  expect(grown('upshot_store_commit_writes_sum')).toBe(23)
  expect(grown('upshot_postgres_wait_seconds_count{for="deliveries"}')).toBe(21)
  expect(grown('upshot_postgres_wait_seconds_sum{for="deliveries"}')).toBeGreaterThan(20 * 0.03)
  expect(grown('upshot_postgres_wait_seconds_count{for="steps"}')).toBe(1)
})

test('calls that find every session taken are counted with the time until one is free', async () => {
  const { store, session, values } = await openWatched()
  await session.query('BEGIN')
  await session.query('LOCK TABLE account IN ACCESS EXCLUSIVE MODE')
  const reads = Array.from({ length: 5 }, () => store.listAccounts())
  await awaitBlocked(session)
  const askedAt = performance.now()
  while (performance.now() - askedAt < 30) await session.query('SELECT 1')
  await session.query('COMMIT')
  await Promise.all(reads)
  // Four sessions: the fifth read waited for one of them.
  expect((await values())['upshot_postgres_wait_seconds_sum{for="session"}']).toBeGreaterThan(0.03)
})

test('calls that are made again are counted by their SQLSTATE, and by the loss of their session', async () => {
  const { store, session, values } = await openWatched()
  for (const [act, code] of [
    ['pg_cancel_backend', '57014'],
    ['pg_terminate_backend', '57P01'],
  ]) {
    await session.query('BEGIN')
    await session.query('SELECT * FROM stream FOR UPDATE')
    const saved = store.saveDelivery(incoming(`evt_${code}`))
    const blocked = await awaitBlocked(session)
    await session.query(`SELECT ${act}(pid) FROM unnest($1::int[]) AS pid`, [blocked])
    const repeats = `upshot_postgres_repeats_total{code="${code}"}`
    while ((await values())[repeats] === 0);
    await session.query('COMMIT')
    expect(await saved).toMatchObject({ verdict: 'accepted' })
  }
  expect(moved(await values(), 'upshot_postgres_repeats')).toEqual({
    'upshot_postgres_repeats_total{code="57014"}': 1,
    'upshot_postgres_repeats_total{code="57P01"}': 1,
  })
})

test('a commit whose answer is lost is settled by asking, and counted by its fate', async () => {
  const { store, network, values, commits, place } = await openWatched()
  const fates = async () => moved(await values(), 'upshot_postgres_unanswered')
  network.commits = 'unanswered'
  const done = store.pauseWorkflow('follow-up', NOW)
  while (Object.keys(await fates()).length === 0);
  network.commits = 'answered'
  await done
  expect(await fates()).toEqual({ 'upshot_postgres_unanswered_commits_total{fate="committed"}': 1 })
  network.commits = 'cut'
  const again = store.resumeWorkflow('follow-up')
  while (Object.keys(await fates()).length === 1);
  network.commits = 'answered'
  await again
  expect((await fates())['upshot_postgres_unanswered_commits_total{fate="undone"}']).toBeGreaterThan(0)
  expect(moved(await values(), 'upshot_postgres_repeats_total{code="lost"}')).not.toEqual({})

  const pool = new Pool({ hosts: [{ connectionString: place.url }], schema: place.schema, size: 1 })
  const parts = { ending: async () => {}, rolledBack() {} }
  const db = new Database({ pool, name: 'test', counts: commits, repeatMs: 20 }, () => ({ parts }))
  onTestFinished(() => db.close())
  await expect(
    db.write(async () => {
      network.commits = 'unanswered'
      network.isOpen = false
    }),
  ).rejects.toMatchObject({ code: 'store_unavailable' })
  network.isOpen = true
  network.commits = 'answered'
  expect((await fates())['upshot_postgres_unanswered_commits_total{fate="unknown"}']).toBe(1)
})

test('a hint is timed from the write to the moment at which the process hears of it', async () => {
  const { store, values } = await openWatched()
  const watch = store.watch({} as never, () => {})
  await queueRun(store)
  while ((await values()).upshot_postgres_hint_seconds_count === 0);
  watch.stop()
  const { upshot_postgres_hint_seconds_sum: sum = 0, upshot_postgres_hint_seconds_count: count } = await values()
  expect(count).toBe(1)
  // They are gathered for 5 ms.
  expect(sum).toBeGreaterThan(0.004)
})

test('a machine whose clock is off is told by how much', async () => {
  const { store, values, setOffset } = await openWatched()
  const readClock = async () => ((await store.readClock()) ?? 0) + 60_000
  const { clock, stop } = await DatabaseClock.follow({ readClock })
  onTestFinished(stop)
  setOffset((clock as DatabaseClock).offsetMs)
  const { upshot_postgres_clock_offset_seconds: offset } = await values()
  expect(offset).toBeCloseTo(60, 0)
})

test('a process whose database is away tells its counts and readiness, and nothing of the database', async () => {
  const { store, values, metrics } = await openWatched()
  await store.addEndpoint(planEndpoint({ name: 'main' }, NOW))
  const before = await values()
  expect(before).toHaveProperty(['upshot_runs{status="pending"}'])
  metrics.count({ ...(NOTICES['delivery.received'] as NoticeOf<'delivery.received'>), endpoint: 'end_new' })
  await store.close()
  const after = await values()
  expect(Object.keys(after).filter((name) => /^upshot_(runs\{|postgres_connections)/.test(name))).toEqual([])
  expect(Object.keys(after).filter((name) => name.includes('end_new'))).toEqual([])
  for (const name of [
    'upshot_ready{check="writable"}',
    'upshot_postgres_repeats_total{code="lost"}',
    'upshot_deliveries_total{endpoint="main",verdict="unavailable"}',
  ])
    expect(after[name]).toBe(before[name])
})
