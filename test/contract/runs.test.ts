import { expect } from 'vitest'
import { listClaimedOnArrival } from '../../src/core/runs/claim.ts'
import { FIRST_FENCE } from '../../src/core/runs/lease.ts'
import { markEvent } from '../../src/core/store/events.ts'
import { checkpoint, incoming, NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { arrive, askAdmission, concurrency, throttle } from './support/ask-admission.ts'
import { claimNext } from './support/claim-next.ts'

describeStores((test, open) => {
  test('a run that completes after a failed attempt has no error', async ({ store }) => {
    const id = await queueRun(store)
    const error = { name: 'Error', message: 'busy' }
    await store.postponeRun((await claimNext(store)).lease, { dueAt: NOW + 1, error })
    expect(await store.findRun(id)).toMatchObject({ status: 'waiting', attempt: 1, error })
    await store.completeRun((await claimNext(store, NOW + 1)).lease, '1', NOW + 1)
    expect(await store.findRun(id)).toMatchObject({ status: 'completed', attempt: 1, error: null })
  })

  test('each pending run is claimed by one worker only, oldest first', async ({ store, reopen }) => {
    const first = await queueRun(store, 'evt_1', 'follow-up', NOW)
    const second = await queueRun(store, 'evt_2', 'follow-up', NOW + 1)
    const other = await reopen()
    const claimed = await store.claimRuns('wrk_1', 1, NOW)
    const rest = await other.claimRuns('wrk_2', 10, NOW)
    expect(claimed.map((run) => run.lease.runId)).toEqual([first])
    expect(rest.map((run) => run.lease.runId)).toEqual([second])
    expect(await store.claimRuns('wrk_1', 10, NOW)).toEqual([])
  })

  test('no run starts before it was made, however long a call for it waits for the store', async ({ store }) => {
    await queueRun(store, 'evt_1', 'follow-up', NOW)
    const claimed = await claimNext(store, NOW - 800)
    expect(claimed.startedAt).toBe(NOW)
    for (const gate of [concurrency, throttle]) {
      const run = await arrive(store, `evt_${gate.name}`, NOW)
      const admitted = await askAdmission(store, run, { gates: [gate] }, NOW - 800)
      expect(admitted).toMatchObject({ kind: 'admitted', startedAt: NOW })
      expect(await store.findRun(run.lease.runId)).toMatchObject({ startedAt: NOW })
    }
  })

  test('an arrival claim gives the runs of a delivery to its worker, as a claim would', async ({ store }) => {
    const workflows = ['follow-up', 'inventory']
    const arrivalClaim = { worker: 'wrk_1', codeHashes: { inventory: 'as loaded' } }
    const delivery = incoming('evt_1', { workflows, priorities: { inventory: 7 }, arrivalClaim })
    const receipt = await store.saveDelivery(delivery)
    const taken = listClaimedOnArrival(delivery, receipt)
    expect(taken.map((run) => run.lease)).toMatchObject(
      receipt.runs.map((runId) => ({ runId, fence: FIRST_FENCE, worker: 'wrk_1' })),
    )
    expect(await store.listLeases('wrk_1')).toHaveLength(2)
    expect(await store.claimRuns('wrk_2', 10, NOW)).toEqual([])
    for (const { lease } of taken) await store.releaseRun(lease)
    const claimed = await store.claimRuns('wrk_1', 10, NOW)
    expect(claimed.toSorted((a, b) => (a.workflow < b.workflow ? -1 : 1))).toEqual(
      taken.map((run) => ({ ...run, lease: { ...run.lease, fence: FIRST_FENCE + 1 } })),
    )
  })

  test('an arrival claim takes no run while another is queued, and none of a paused workflow', async ({ store }) => {
    const arrivalClaim = { worker: 'wrk_1', codeHashes: {} }
    const deliver = async (id: string) => {
      const { runs, claimedWithEvent } = await store.saveDelivery(incoming(id, { arrivalClaim, receivedAt: NOW }))
      expect(runs).toHaveLength(1)
      return claimedWithEvent !== undefined
    }
    await queueRun(store, 'evt_waits')
    expect(await deliver('evt_1')).toBe(false)
    const [first, second] = await store.claimRuns('wrk_2', 10, NOW)
    if (!first || !second) throw new Error('two runs were queued')
    expect(await deliver('evt_2')).toBe(true)
    await store.parkRun(first.lease, { dueAt: NOW, reason: 'is due' })
    expect(await deliver('evt_3')).toBe(false)
    for (const { lease } of await store.claimRuns('wrk_2', 10, NOW)) await store.completeRun(lease, 'null', NOW)
    await store.parkRun(second.lease, { dueAt: NOW + 1, reason: 'is not due yet' })
    expect(await deliver('evt_4')).toBe(true)
    await store.pauseWorkflow('follow-up', NOW)
    expect(await deliver('evt_5')).toBe(false)
  })

  test('an arrival claim takes nothing of a repeated delivery', async ({ store }) => {
    const arrivalClaim = { worker: 'wrk_1', codeHashes: {} }
    await store.saveDelivery(incoming('evt_1', { arrivalClaim }))
    const again = await store.saveDelivery(incoming('evt_1', { id: 'dlv_again', arrivalClaim }))
    expect(again).toEqual({ verdict: 'duplicate', runs: [] })
    expect(await store.listLeases('wrk_1')).toHaveLength(1)
  })

  test('a run that was only planned ends with its plan, large or small, and nothing begins it again', async () => {
    const { store } = await open()
    for (const id of ['evt_1', 'evt_2']) await queueRun(store, id)
    const [small, large] = (await store.claimRuns('wrk_1', 10, NOW)).map((run) => run.lease)
    if (!small || !large) throw new Error('two runs were queued')
    await store.endPlanned(small, { reason: 'would complete', plan: '{"effects":[]}' }, NOW + 5)
    const plan = JSON.stringify(Array.from({ length: 20_000 }, (_, index) => `effect ${index}`))
    await store.endPlanned(large, { reason: 'would fail', plan: await store.packOutput(plan) }, NOW + 6)
    expect(await store.findRun(small.runId)).toMatchObject({
      status: 'planned',
      reason: 'would complete',
      output: '{"effects":[]}',
      error: null,
      finishedAt: NOW + 5,
    })
    expect(await store.findRun(large.runId)).toMatchObject({ status: 'planned', output: null, apartBytes: plan.length })
    expect(await store.readOutput(large.runId, null)).toBe(plan)
    expect((await store.listRuns({ status: 'planned', limit: 9 })).map(({ id }) => id)).toEqual([
      large.runId,
      small.runId,
    ])
    expect(await store.retryRun(small.runId, NOW + 7)).toBe(false)
    expect(await store.claimRuns('wrk_1', 10, NOW + 1e9)).toEqual([])
    await expect(store.endPlanned(small, { reason: 'late', plan: '{}' }, NOW + 8)).rejects.toMatchObject({
      code: 'stale_lease',
    })
  })

  test('every write with an older fence is refused', async ({ store }) => {
    await queueRun(store)
    const old = await claimNext(store)
    await store.releaseRun(old.lease)
    await store.claimRuns('wrk_2', 1, NOW)
    const stale = { code: 'stale_lease' }
    await expect(store.saveCheckpoint(old.lease, checkpoint('a'))).rejects.toMatchObject(stale)
    await expect(store.completeRun(old.lease, 'null', NOW)).rejects.toMatchObject(stale)
    await expect(store.failRun(old.lease, { name: 'Error', message: '' }, NOW)).rejects.toMatchObject(stale)
    await expect(store.skipRun(old.lease, '', NOW)).rejects.toMatchObject(stale)
    await expect(store.parkRun(old.lease, { dueAt: NOW, reason: '' })).rejects.toMatchObject(stale)
    await expect(store.releaseRun(old.lease)).rejects.toMatchObject(stale)
    expect(await store.listSteps(old.lease.runId)).toEqual([])
  })

  test('a refused write does not affect other writes of its commit', async ({ store }) => {
    await queueRun(store, 'evt_1')
    await queueRun(store, 'evt_2')
    const [a, b] = (await store.claimRuns('wrk_1', 2, NOW)).map((run) => run.lease)
    if (!a || !b) throw new Error('two runs were queued')
    const results = await Promise.allSettled([
      store.completeRun({ ...a, fence: 99 }, 'null', NOW),
      store.completeRun(b, 'null', NOW),
      store.completeRun(a, 'null', NOW),
    ])
    expect(results.map((result) => result.status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
  })

  test('runs are listed by time, origin and page, and events by time and page', async ({ store }) => {
    const ids: string[] = []
    for (const n of [0, 1, 2, 3]) {
      const { runs } = await store.saveDelivery(incoming(`evt_${n}`, { receivedAt: NOW + n }))
      ids.unshift(runs[0] ?? '')
    }
    expect((await store.listRuns({ limit: 10, since: NOW + 1, until: NOW + 3 })).map(({ id }) => id)).toEqual(
      ids.slice(1, 3),
    )
    expect((await store.listRuns({ limit: 2, before: ids[0] ?? '' })).map(({ id }) => id)).toEqual(ids.slice(1, 3))
    expect(await store.listRuns({ limit: 10, origin: 'replay' })).toEqual([])
    const [newest, second] = await store.listEvents({ limit: 2, until: NOW + 3 })
    expect([newest?.id, second?.id]).toEqual(['evt_2', 'evt_1'])
    expect(await store.listEvents({ limit: 9, since: NOW + 1, before: newest ? markEvent(newest) : '' })).toMatchObject(
      [{ id: 'evt_1' }],
    )
  })
})
