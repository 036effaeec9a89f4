import { expect, test } from 'vitest'
import { LEASE_MS, MAX_CRASHES } from '../../src/core/runs/lease.ts'
import { NOW, queueRun } from '../support/fixtures.ts'
import type { OpenStore } from './open-store.ts'

export function describeWorkers(open: OpenStore): void {
  test('leaves the runs of a living worker alone', async () => {
    const { store, reopen } = open()
    await queueRun(store)
    await store.startWorker('wrk_1', NOW)
    await store.claimRuns('wrk_1', 1, NOW)
    expect(await reopen().recoverRuns(NOW + LEASE_MS, LEASE_MS)).toBe(0)
  })

  test('takes the runs of a worker back whose lease ran out, and refuses what it still writes', async () => {
    const { store, reopen } = open()
    await queueRun(store)
    await store.startWorker('wrk_1', NOW)
    const [run] = await store.claimRuns('wrk_1', 1, NOW)
    if (!run) throw new Error('a run was queued')
    const other = reopen()
    expect(await other.recoverRuns(NOW + LEASE_MS + 1, LEASE_MS)).toBe(1)
    await expect(store.completeRun(run.lease, 'null', NOW)).rejects.toMatchObject({ code: 'stale_lease' })
    expect(await other.claimRuns('wrk_2', 1, NOW)).toMatchObject([{ lease: { runId: run.lease.runId } }])
  })

  test('a heartbeat keeps the lease', async () => {
    const { store, reopen } = open()
    await queueRun(store)
    await store.startWorker('wrk_1', NOW)
    await store.claimRuns('wrk_1', 1, NOW)
    await store.beatWorker('wrk_1', NOW + LEASE_MS)
    expect(await reopen().recoverRuns(NOW + LEASE_MS + 1, LEASE_MS)).toBe(0)
  })

  test('hands the runs of a worker that stops back at once', async () => {
    const { store } = open()
    await queueRun(store)
    await store.startWorker('wrk_1', NOW)
    await store.claimRuns('wrk_1', 1, NOW)
    await store.stopWorker('wrk_1')
    expect(await store.claimRuns('wrk_2', 1, NOW)).toHaveLength(1)
  })

  test('parks a run whose process keeps dying', async () => {
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
}
