import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect } from 'vitest'
import { describeStale, type Lease } from '../../../src/core/runs/lease.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { awaitFound } from '../../support/await-runs.ts'
import { queueRun } from '../../support/fixtures.ts'
import { test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'
import { waiting } from '../support/transfer-waits.ts'

test('a run that was canceled while its pass broke is told as lost, and not as parked', async ({ engine }) => {
  const findMatch = async (run: string) => {
    await engine.store.cancelRun(run, 'no', engine.clock.now())
    throw new Error('the database is away')
  }
  await engine.start([waiting()], { store: { ...engine.store, findMatch } })
  const { id } = await engine.run('waiting')
  const before = engine.heard.length
  engine.clock.advance('1h')
  const end = await awaitFound(engine.notices, async () => {
    const ends = engine.heard.slice(before).filter((notice) => 'run' in notice && notice.run === id)
    return ends.find(({ kind }) => kind === 'run.parked' || kind === 'run.lost') ?? null
  })
  expect(end).toMatchObject({ kind: 'run.lost' })
})

async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left--) await turn()
}

/** A database whose history may change, as after a failover to a standby that lags. */
function withHistory(store: Store) {
  const present = { era: 'before' }
  const fresh = <Given extends Omit<Lease, 'worker'>>(lease: Given) => ({ ...lease, era: present.era })
  const historic: Store = {
    ...store,
    claimRuns: async (...given) =>
      (await store.claimRuns(...given)).map((run) => ({ ...run, lease: fresh(run.lease) })),
    listLeases: async (worker) => {
      const leases = (await store.listLeases(worker)).map(fresh)
      // As long as an answer of a server takes.
      await turns(3)
      return leases
    },
    releaseRun: async (lease) => {
      if (lease.era !== present.era) throw describeStale(lease)
      await store.releaseRun(lease)
    },
  }
  return { present, store: historic }
}

test('a run whose claim a failover lost, and which its worker claimed anew, is not given back', async ({ engine }) => {
  const { present, store } = withHistory(engine.store)
  const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  let calls = 0
  const work = () => {
    begun[calls]?.resolve()
    calls += 1
    return calls === 1 ? first.promise : second.promise
  }
  const worker = await engine.start([define('slow', ({ step }) => step.run('work', work))], { store })
  const run = await queueRun(engine.store, 'evt_1', 'slow')
  worker.wake()
  await begun[0]?.promise
  const db = new Database(join(engine.folder, 'upshot.db'))
  db.prepare(`UPDATE work SET status = 'pending', worker = NULL, fence = 0`).run()
  db.close()
  present.era = 'after'
  const lost = engine.notices.once('run.lost')
  worker.wake()
  expect(await lost).toMatchObject({ run, failover: true })
  await turns(30)
  first.resolve()
  await begun[1]?.promise
  await turns(30)
  expect(await engine.store.listLeases(worker.id)).toEqual([{ runId: run, fence: 1 }])
  const completed = engine.notices.once('run.completed')
  second.resolve()
  expect(await completed).toMatchObject({ run })
  expect(calls).toBe(2)
})
