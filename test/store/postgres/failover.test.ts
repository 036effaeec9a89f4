import { randomBytes } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import type { Store } from '../../../src/core/store/store.ts'
import { openPostgresStore } from '../../../src/store/postgres/open-postgres-store.ts'
import { incoming, NOW, queueRun } from '../../support/fixtures.ts'
import { execute, startPostgres, type TestServer } from '../../support/postgres-server.ts'
import { createTestEngine } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'
import { openTestMetrics } from '../../watch/support/open-test-metrics.ts'

async function startPair(): Promise<{ primary: TestServer; standby: TestServer }> {
  const primary = await startPostgres()
  onTestFinished(() => primary.stop())
  const standby = await primary.addStandby()
  onTestFinished(() => standby.stop())
  return { primary, standby }
}

async function openOn(...servers: TestServer[]): Promise<Store> {
  const hosts = servers.map(({ url }) => ({ connectionString: url }))
  const store = await openPostgresStore({ hosts, schema: 'upshot', vaultKey: randomBytes(32), mayMigrate: true })
  onTestFinished(() => store.close())
  return store
}

async function storedIn(server: TestServer, what = 'SELECT id FROM upshot.event'): Promise<string[]> {
  const { rows } = await execute(server, what)
  return rows.map(({ id }) => id)
}

test('a failover to a synchronous standby loses no acknowledged event, and the store goes on there', async () => {
  const { primary, standby } = await startPair()
  await execute(primary, `ALTER SYSTEM SET synchronous_standby_names = 'standby'`, 'SELECT pg_reload_conf()')
  const store = await openOn(primary, standby)
  const acknowledged: string[] = []
  let isOver = false
  const send = async (sender: number) => {
    for (let n = 0; !isOver; n++) {
      const event = `evt_${sender}_${n}`
      const receipt = await store.saveDelivery(incoming(event)).catch(() => null)
      if (receipt !== null) acknowledged.push(event)
    }
  }
  const senders = [1, 2, 3, 4].map(send)
  while (acknowledged.length < 100) await store.listStops()
  await primary.kill()
  const before = acknowledged.length
  await standby.promote()
  while (acknowledged.length < before + 100) await store.listStops().catch(() => {})
  isOver = true
  await Promise.all(senders)
  expect(await storedIn(standby)).toEqual(expect.arrayContaining(acknowledged))
})

test('a commit whose answer was lost is not called done before the standby has it', async () => {
  const { primary, standby } = await startPair()
  await execute(primary, `ALTER SYSTEM SET synchronous_standby_names = 'standby'`, 'SELECT pg_reload_conf()')
  const waiting = `SELECT pid FROM pg_stat_activity WHERE application_name = 'upshot' AND wait_event = 'SyncRep'`
  const waits = async () => (await execute(primary, waiting)).rows.map(({ pid }) => Number(pid))
  const store = await openOn(primary, standby)
  await store.saveDelivery(incoming('evt_before'))
  const [{ pid: receiver } = { pid: 0 }] = (await execute(standby, 'SELECT pid FROM pg_stat_wal_receiver')).rows
  process.kill(receiver, 'SIGSTOP')
  let isDone = false
  const stop = store.stopEffects({ kind: 'all', name: '', actor: 'ada', reason: 'test', since: NOW }).then(() => {
    isDone = true
  })
  let [first = 0, ...others]: number[] = []
  while (first === 0) [first = 0, ...others] = await waits()
  expect(others).toEqual([])
  await execute(primary, `SELECT pg_terminate_backend(${first})`)
  // The next session asks what became of the commit.
  while (!(isDone || (await waits()).some((pid) => pid !== first)));
  expect(isDone).toBe(false)
  process.kill(receiver, 'SIGCONT')
  await stop
  // The standby has it on disk, and replays it a moment later.
  await expect.poll(() => storedIn(standby, 'SELECT name AS id FROM upshot.effect_stop')).toEqual([''])
})

test('a failover to a standby that lags loses what it lacks: the guide says so', async () => {
  const { primary, standby } = await startPair()
  const store = await openOn(primary, standby)
  await store.saveDelivery(incoming('evt_kept'))
  while (!(await storedIn(standby).catch((): string[] => [])).includes('evt_kept'));
  await execute(standby, `ALTER SYSTEM SET primary_conninfo = ''`, 'SELECT pg_reload_conf()')
  const receivers = `SELECT 1 FROM pg_stat_wal_receiver WHERE status = 'streaming'`
  while ((await execute(standby, receivers)).rowCount !== 0);
  await store.saveDelivery(incoming('evt_lost'))
  await primary.kill()
  await standby.promote()
  expect(await storedIn(standby)).toEqual(['evt_kept'])
  // Its sender has a 2xx. Sent again, it is accepted like a new one.
  expect((await store.saveDelivery(incoming('evt_lost'))).verdict).toBe('accepted')
})

/** Waits until it is let go, the first time that it is called. */
function stuckOnce() {
  const started = Promise.withResolvers<void>()
  const latch = Promise.withResolvers<void>()
  let calls = 0
  const workflow = define('follow-up', ({ step }) =>
    step.run('work', () => {
      calls += 1
      started.resolve()
      return calls === 1 ? latch.promise : undefined
    }),
  )
  return { workflow, started: started.promise, release: latch.resolve }
}

test('a pass of before a failover is dropped and counted, and its run begins again at once', async () => {
  const { primary, standby } = await startPair()
  await execute(primary, `ALTER SYSTEM SET synchronous_standby_names = 'standby'`, 'SELECT pg_reload_conf()')
  const store = await openOn(primary, standby)
  const engine = createTestEngine({ ...store, folder: '' })
  const { metrics, values } = openTestMetrics()
  engine.notices.subscribe('*', (notice) => metrics.count(notice))
  const counts = async () => {
    const { upshot_passes_dropped_total: dropped, upshot_leases_given_back_total: givenBack } = await values()
    return { dropped, givenBack, lost: (await values()).upshot_runs_lost_total }
  }
  expect(await counts()).toEqual({ dropped: 0, givenBack: 0, lost: 0 })
  const { workflow, started, release } = stuckOnce()
  const worker = await engine.start([workflow])
  const run = await queueRun(store)
  worker.wake()
  await started
  await primary.kill()
  await standby.promote()
  const lost = engine.notices.once('run.lost')
  const completed = engine.notices.once('run.completed')
  release()
  expect(await lost).toMatchObject({ run, failover: true })
  // The clock stands still: no look at the leases gives it back.
  await completed
  expect(await counts()).toEqual({ dropped: 1, givenBack: 0, lost: 0 })
  expect(await store.findRun(run)).toMatchObject({ status: 'completed' })
})
