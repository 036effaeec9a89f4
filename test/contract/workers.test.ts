import { expect, test } from 'vitest'
import { HEARTBEAT_MS, LEASE_MS, MAX_CRASHES } from '../../src/core/runs/lease.ts'
import type { Store } from '../../src/core/store/store.ts'
import { NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { claimNext } from './support/claim-next.ts'

/** Looks three times, as a worker beside a silent one. */
async function recoverSilent(store: Store): Promise<number> {
  for (let look = 1; look < 3; look++) expect(await store.recoverRuns(NOW + LEASE_MS + look, LEASE_MS)).toBe(0)
  return store.recoverRuns(NOW + LEASE_MS + 3, LEASE_MS)
}

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
    expect(await recoverSilent(other)).toBe(1)
    await expect(store.completeRun(run.lease, 'null', NOW)).rejects.toMatchObject({ code: 'stale_lease' })
    expect(await other.claimRuns('wrk_2', 1, NOW)).toMatchObject([{ lease: { runId: run.lease.runId } }])
  })

  test('a jump of the clock does not end the leases of a worker that lives and goes on beating', async () => {
    const { store, reopen } = open()
    await queueRun(store)
    await store.startWorker('wrk_1', NOW)
    await store.claimRuns('wrk_1', 1, NOW)
    const other = reopen()
    await other.startWorker('wrk_2', NOW)
    const jumped = NOW + 3_600_000
    expect(await other.recoverRuns(jumped, LEASE_MS)).toBe(0)
    expect(await other.recoverRuns(jumped + HEARTBEAT_MS, LEASE_MS)).toBe(0)
    await store.beatWorker('wrk_1', jumped + HEARTBEAT_MS)
    for (let n = 2; n < 6; n++) expect(await other.recoverRuns(jumped + n * HEARTBEAT_MS, LEASE_MS)).toBe(0)
    expect(await store.listLeases('wrk_1')).toHaveLength(1)
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
      await recoverSilent(other)
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
