import { expect } from 'vitest'
import { HEARTBEAT_MS, LEASE_MS, MAX_CRASHES } from '../../src/core/runs/lease.ts'
import { incoming, NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { claimNext } from './support/claim-next.ts'

describeStores((test, open) => {
  test('the runs of a living worker are not recovered, however long it is silent', async ({ store, reopen }) => {
    await queueRun(store)
    await store.startWorker('wrk_1', NOW)
    await store.claimRuns('wrk_1', 1, NOW)
    expect(await (await reopen()).recoverRuns(NOW + 100 * LEASE_MS, LEASE_MS)).toMatchObject({ count: 0 })
  })

  test('the runs of a worker whose process ended are recovered, and its writes refused', async ({ store, reopen }) => {
    await queueRun(store)
    await store.startWorker('wrk_1', NOW)
    const run = await claimNext(store)
    const other = await reopen()
    await store.close()
    expect(await other.recoverRuns(NOW, LEASE_MS)).toEqual({ count: 1, suspects: [], parked: [] })
    await expect(other.completeRun(run.lease, 'null', NOW)).rejects.toMatchObject({ code: 'stale_lease' })
    expect(await other.claimRuns('wrk_2', 1, NOW)).toMatchObject([{ lease: { runId: run.lease.runId } }])
  })

  test('a jump of the clock does not end the leases of a worker that lives and goes on beating', async () => {
    const { store, reopen } = await open()
    await queueRun(store)
    await store.startWorker('wrk_1', NOW)
    await store.claimRuns('wrk_1', 1, NOW)
    const other = await reopen()
    await other.startWorker('wrk_2', NOW)
    const jumped = NOW + 3_600_000
    expect(await other.recoverRuns(jumped, LEASE_MS)).toMatchObject({ count: 0 })
    expect(await other.recoverRuns(jumped + HEARTBEAT_MS, LEASE_MS)).toMatchObject({ count: 0 })
    await store.beatWorker('wrk_1', jumped + HEARTBEAT_MS)
    for (let n = 2; n < 6; n++)
      expect(await other.recoverRuns(jumped + n * HEARTBEAT_MS, LEASE_MS)).toMatchObject({ count: 0 })
    expect(await store.listLeases('wrk_1')).toHaveLength(1)
  })

  test('runs whose engine ended are left out by other claims, and tried alone', async ({ store }) => {
    const ids = [await queueRun(store, 'evt_1'), await queueRun(store, 'evt_2')]
    await store.startWorker('wrk_1', NOW)
    await store.claimRuns('wrk_1', 2, NOW)
    const suspects = ids.map((run) => ({ run, workflow: 'follow-up' }))
    expect(await store.endWorker('wrk_1')).toEqual({ count: 2, suspects, parked: [] })
    expect(await store.claimRuns('wrk_2', 9, NOW)).toEqual([])
    expect(await store.hasSuspects()).toBe(true)
    expect(await store.claimSuspects('wrk_3', 1, NOW)).toMatchObject([{ lease: { runId: ids[0] } }])
  })

  test('a suspect that works alone without harm is claimed like any other run again', async ({ store }) => {
    await queueRun(store)
    await store.startWorker('wrk_1', NOW)
    await store.claimRuns('wrk_1', 1, NOW)
    await store.endWorker('wrk_1')
    const [suspect] = await store.claimSuspects('wrk_2', 1, NOW)
    if (!suspect) throw new Error('there is a suspect')
    await store.parkRun(suspect.lease, { dueAt: NOW, reason: 'sleeps' })
    expect(await store.hasSuspects()).toBe(false)
    expect(await store.claimRuns('wrk_3', 1, NOW)).toHaveLength(1)
  })

  test('a delivery is claimed on arrival beside a suspect that waits', async ({ store }) => {
    await queueRun(store)
    await store.startWorker('wrk_1', NOW)
    await store.claimRuns('wrk_1', 1, NOW)
    await store.endWorker('wrk_1')
    const arrivalClaim = { worker: 'wrk_2', codeHashes: {} }
    expect(await store.saveDelivery(incoming('evt_2', { arrivalClaim }))).toHaveProperty('claimedWithEvent')
  })

  test('a run that alone ended its worker five times waits for a person', async ({ store }) => {
    const id = await queueRun(store)
    for (let death = 1; death < MAX_CRASHES; death++) {
      await store.startWorker(`wrk_${death}`, NOW)
      const claim = death === 1 ? store.claimRuns : store.claimSuspects
      expect(await claim(`wrk_${death}`, 1, NOW)).toHaveLength(1)
      expect((await store.endWorker(`wrk_${death}`)).parked).toEqual([])
    }
    await store.startWorker('wrk_last', NOW)
    await store.claimSuspects('wrk_last', 1, NOW)
    const reason = 'it ended its worker 5 times, with no other run at work'
    expect((await store.endWorker('wrk_last')).parked).toEqual([{ run: id, workflow: 'follow-up', reason }])
    expect(await store.hasSuspects()).toBe(false)
    expect(await store.findRun(id)).toMatchObject({ status: 'waiting', dueAt: null, reason })
    expect(await store.resumeRun(id, { fromScratch: false })).toBe(true)
    expect(await store.claimRuns('wrk_after', 1, NOW)).toHaveLength(1)
  })
})
