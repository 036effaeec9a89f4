import { expect, test } from 'vitest'
import { LEASE_MS, MAX_CRASHES } from '../../src/core/runs/lease.ts'
import { NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { claimNext } from './support/claim-next.ts'

describeStores((open) => {
  test('the runs of a living worker are not recovered', async () => {
    const { store, reopen } = open()
    await queueRun(store)
    await store.startWorker('wrk_1', NOW)
    await store.claimRuns('wrk_1', 1, NOW)
    expect(await reopen().recoverRuns(NOW + LEASE_MS, LEASE_MS)).toBe(0)
  })

  test('the runs of a worker whose lease expired are recovered, and its writes refused', async () => {
    const { store, reopen } = open()
    await queueRun(store)
    await store.startWorker('wrk_1', NOW)
    const run = await claimNext(store)
    const other = reopen()
    expect(await other.recoverRuns(NOW + LEASE_MS + 1, LEASE_MS)).toBe(1)
    await expect(store.completeRun(run.lease, 'null', NOW)).rejects.toMatchObject({ code: 'stale_lease' })
    expect(await other.claimRuns('wrk_2', 1, NOW)).toMatchObject([{ lease: { runId: run.lease.runId } }])
  })

  test('a heartbeat keeps the leases of a worker', async () => {
    const { store, reopen } = open()
    await queueRun(store)
    await store.startWorker('wrk_1', NOW)
    await store.claimRuns('wrk_1', 1, NOW)
    await store.beatWorker('wrk_1', NOW + LEASE_MS)
    expect(await reopen().recoverRuns(NOW + LEASE_MS + 1, LEASE_MS)).toBe(0)
  })

  test('the runs of a worker that stops are released at once', async () => {
    const { store } = open()
    await queueRun(store)
    await store.startWorker('wrk_1', NOW)
    await store.claimRuns('wrk_1', 1, NOW)
    await store.stopWorker('wrk_1')
    expect(await store.claimRuns('wrk_2', 1, NOW)).toHaveLength(1)
  })

  test('a run whose process died five times waits for a person', async () => {
    const { store, reopen } = open()
    const id = await queueRun(store)
    const other = reopen()
    for (let death = 1; death <= MAX_CRASHES; death++) {
      await store.startWorker(`wrk_${death}`, NOW)
      expect(await store.claimRuns(`wrk_${death}`, 1, NOW)).toHaveLength(1)
      await other.recoverRuns(NOW + LEASE_MS + 1, LEASE_MS)
    }
    expect(await store.claimRuns('wrk_last', 1, NOW)).toEqual([])
    expect(await store.findRun(id)).toMatchObject({
      status: 'waiting',
      dueAt: null,
      reason: expect.stringContaining('died 5 times'),
    })
  })

  test('the leases that a worker still has are listed', async () => {
    const { store, reopen } = open()
    await queueRun(store, 'evt_1')
    await queueRun(store, 'evt_2')
    const [a, b] = await store.claimRuns('wrk_1', 2, NOW)
    await reopen().cancelRun(a?.lease.runId ?? '', 'by hand', NOW)
    expect(await store.listLeases('wrk_1')).toEqual([{ runId: b?.lease.runId, fence: 1 }])
  })
})
