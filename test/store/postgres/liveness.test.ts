import { expect, test } from 'vitest'
import { workerLock } from '../../../src/store/postgres/database/direct-session.ts'
import { incoming, NOW } from '../../support/fixtures.ts'
import { makeDatabase } from '../../support/postgres-store.ts'
import { openTwo } from './support/open-two.ts'

/** A worker of no process: its row, its lock, and a run of it. */
const WORKER = 'wrk_silent'

test.each([
  { silentMs: 0, hasLock: false, isDead: false },
  { silentMs: 3_500, hasLock: false, isDead: true },
  { silentMs: 8_000, hasLock: true, isDead: false },
  { silentMs: 15_500, hasLock: true, isDead: true },
  // The clock was set back since.
  { silentMs: -3_600_000, hasLock: false, isDead: true },
  { silentMs: -3_600_000, hasLock: true, isDead: false },
])('silent for $silentMs ms, its lock held: $hasLock, a worker is dead: $isDead', async (worker) => {
  const { one, session } = await openTwo()
  await one.saveDelivery(incoming('evt_1'))
  const silence = `INSERT INTO worker (id, started_at, seen_at)
    SELECT $1, 0, extract(epoch FROM clock_timestamp()) * 1000 - $2::bigint`
  if (worker.hasLock) await session.query(`SELECT pg_advisory_lock(${workerLock('$1::text')})`, [WORKER])
  await one.claimRuns(WORKER, 1, NOW)
  await session.query(silence, [WORKER, worker.silentMs])
  expect((await one.recoverRuns(NOW, 0)).count).toBe(worker.isDead ? 1 : 0)
  expect(await one.listLeases(WORKER)).toHaveLength(worker.isDead ? 0 : 1)
})

test('a process whose session was lost calls nobody dead for ten seconds: others may have lost theirs', async () => {
  const place = await makeDatabase()
  const { one, session } = await openTwo(place)
  await one.saveDelivery(incoming('evt_1'))
  await one.claimRuns(WORKER, 1, NOW)
  // Holds a session, as the process of a worker does.
  await one.startWorker('wrk_2', NOW)
  await session.query('INSERT INTO worker (id, started_at, seen_at) VALUES ($1, 0, 0)', [WORKER])
  // Other tests hold locks in databases of their own.
  const locks = `SELECT pid FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
    WHERE locktype = 'advisory' AND datname = current_database()`
  const holder = async () => (await session.query(locks)).rows[0]?.pid
  const before = await holder()
  await session.query('SELECT pg_terminate_backend($1)', [before])
  const lostAt = performance.now()
  while ([before, undefined].includes(await holder()));
  expect((await one.recoverRuns(NOW, 0)).count).toBe(0)
  while ((await one.recoverRuns(NOW, 0)).count === 0);
  expect(performance.now() - lostAt).toBeGreaterThan(9_000)
}, 30_000)
