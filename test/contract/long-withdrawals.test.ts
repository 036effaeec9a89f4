import { expect } from 'vitest'
import type { Lease } from '../../src/core/runs/lease.ts'
import type { Store } from '../../src/core/store/store.ts'
import { checkpoint, NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { beginDelete } from './support/begin-delete.ts'
import { claimNext } from './support/claim-next.ts'
import { ask, carryAll, decide, hold, SIZE, statesOf } from './support/long-lists.ts'

const EVERYTHING = { kind: 'all', name: '' } as const
const STOPPED = { dueAt: null, reason: 'stopped', awaits: ['d1'] }
const BY = { actor: 'ada', reason: 'checked', now: NOW }

describeStores((test, open) => {
  test('the long list of a run that ends counts for nothing at once, and is told in several commits', async () => {
    const { store } = await open()
    const { lease, approval, hash } = await hold(store)
    await store.cancelRun(lease.runId, 'enough', NOW)
    expect(await statesOf(store, approval)).toEqual({ withdrawn: 250, open: SIZE - 250 })
    expect(await store.findApproval(approval, NOW)).toMatchObject({ status: 'open', openItems: 0 })
    await expect(decide(store, approval, hash)).rejects.toMatchObject({ code: 'conflict' })
    expect(await carryAll(store)).toBe(2)
    expect(await statesOf(store, approval)).toEqual({ withdrawn: SIZE })
    expect(await store.findApproval(approval, NOW)).toMatchObject({ status: 'withdrawn' })
    expect(await store.listEndedWaits(lease.runId)).toEqual([])
  })

  test('a word that comes while a list is taken back grants nothing of it to the next life of the run', async () => {
    const { store } = await open()
    const { lease, approval } = await hold(store)
    await queueRun(store, 'evt_2')
    const { lease: other } = await claimNext(store)
    await ask(store, other, 1, 1)
    await store.cancelRun(lease.runId, 'enough', NOW)
    const { hash = '' } = (await store.findApproval(approval, NOW)) ?? {}
    expect(await decide(store, approval, hash)).toMatchObject({ status: 'approved', granted: 1, moved: 0 })
    expect(await store.retryRun(lease.runId, NOW)).toBe(true)
    const { lease: next } = await claimNext(store)
    expect(next.runId).toBe(lease.runId)
    expect(await askEnds(store, next)).toEqual(Array(6).fill('held'))
    await carryAll(store)
    expect(await askEnds(store, next)).toEqual(Array(6).fill('held'))
    expect(await ask(store, other, 1, 1)).toEqual(['granted'])
    expect(await store.listEffects({ phases: ['begun'], limit: 9 })).toHaveLength(1)
    await store.parkRun(next, { dueAt: null, reason: 'waits', awaits: ['d1'] })
    const [fresh] = await store.listApprovals({ status: 'open', limit: 9, now: NOW })
    expect(fresh).toMatchObject({ openItems: 6, runs: 1 })
    expect(await decide(store, fresh?.id ?? '', fresh?.hash ?? '')).toMatchObject({ granted: 6, woken: 1 })
    const { lease: last } = await claimNext(store)
    expect(await askEnds(store, last)).toEqual(Array(6).fill('granted'))
  })

  test('a run that begins anew takes its long list back, and what it asks for then stays', async ({ store }) => {
    const { lease, approval } = await hold(store)
    await store.askAgain()
    const { lease: second } = await claimNext(store)
    await store.parkRun(second, { dueAt: null, reason: 'the code has changed' })
    expect(await store.resumeRun(lease.runId, { fromScratch: true })).toBe(true)
    const { lease: third } = await claimNext(store)
    await askEnds(store, third)
    await store.parkRun(third, { dueAt: null, reason: 'waits', awaits: ['d1'] })
    await carryAll(store)
    expect(await statesOf(store, approval)).toEqual({ withdrawn: SIZE, open: 6 })
    const { hash = '' } = (await store.findApproval(approval, NOW)) ?? {}
    expect(await decide(store, approval, hash)).toMatchObject({ granted: 6, woken: 1 })
  })

  test('a run that ended under a stop and was retried waits for the end of that stop again', async ({ store }) => {
    await store.stopEffects({ ...EVERYTHING, since: NOW, actor: 'ada', reason: 'wrong' })
    const { lease } = await hold(store)
    await store.cancelRun(lease.runId, 'enough', NOW)
    await store.retryRun(lease.runId, NOW)
    const { lease: next } = await claimNext(store)
    expect(await askEnds(store, next)).toEqual(Array(6).fill('stopped'))
    await store.parkRun(next, { dueAt: null, reason: 'stopped', awaits: ['d1'] })
    await carryAll(store)
    expect(await store.resumeEffects(EVERYTHING, BY)).toBe(1)
    expect(await store.listEndedWaits(lease.runId)).toHaveLength(6)
    expect(await claimNext(store)).toMatchObject({ lease: { runId: lease.runId } })
  })

  test('the end of a stop wakes many runs in several commits, and each of them once', async ({ store, reopen }) => {
    await store.stopEffects({ ...EVERYTHING, since: NOW, actor: 'ada', reason: 'wrong' })
    const leases = await holdMany(store, 260)
    const [busy] = leases
    if (!busy) throw new Error('runs are held')
    const atWork = await claimAgain(store, busy)
    expect(await store.resumeEffects(EVERYTHING, BY)).toBe(249)
    const claimed = await store.claimRuns('wrk_1', 300, NOW)
    expect(claimed).toHaveLength(249)
    for (const { lease } of claimed) await store.releaseRun(lease)
    expect(await (await reopen()).carryOutDecision(NOW)).toBe(10)
    expect(await store.carryOutDecision(NOW)).toBeNull()
    // At work while the stop ended, so that its wait is over before it parks.
    await store.parkRun(atWork, STOPPED)
    expect(await store.findRun(busy.runId)).toMatchObject({ status: 'pending' })
  })

  test('effects that ask again wait anew until the next time, and one for people only is left alone', async () => {
    const { store } = await open()
    const { lease } = await hold(store)
    expect(await store.askAgain()).toBe(1)
    expect(await store.listEndedWaits(lease.runId)).toHaveLength(SIZE)
    const { lease: next } = await claimNext(store)
    await ask(store, next, 1, SIZE)
    expect(await store.listEndedWaits(lease.runId)).toEqual([])
    await store.parkRun(next, { dueAt: null, reason: 'waits', awaits: ['d1'] })
    expect(await store.findRun(lease.runId)).toMatchObject({ status: 'waiting' })
    expect(await store.resumeEffects(EVERYTHING, BY)).toBeNull()
    expect(await store.listEndedWaits(lease.runId)).toEqual([])
    expect(await store.askAgain()).toBe(1)
    expect(await carryAll(store)).toBe(0)
  })
})

/** Asks for the first of a list, for the last, and for those with the last keys. */
async function askEnds(store: Store, lease: Lease): Promise<string[]> {
  const first = await ask(store, lease, 1, 2)
  return [...first, ...(await ask(store, lease, SIZE - 1, SIZE)), ...(await ask(store, lease, 98, 99))]
}

/** Runs with one delete each, which a stop holds. */
async function holdMany(store: Store, count: number): Promise<Lease[]> {
  await Promise.all(Array.from({ length: count }, (_, n) => queueRun(store, `evt_${n}`)))
  const leases = (await store.claimRuns('wrk_1', count, NOW)).map(({ lease }) => lease)
  await Promise.all(
    leases.map(async (lease) => {
      await beginDelete(store, lease, checkpoint('d1', { target: `storage_a:${lease.runId}` }))
      await store.parkRun(lease, STOPPED)
    }),
  )
  return leases.sort((one, other) => (one.runId < other.runId ? -1 : 1))
}

/** A pass of a run that waits, as a person's action begins it. */
async function claimAgain(store: Store, lease: Lease): Promise<Lease> {
  await store.cancelRun(lease.runId, 'by mistake', NOW)
  await store.retryRun(lease.runId, NOW)
  const { lease: next } = await claimNext(store)
  await beginDelete(store, next, checkpoint('d1', { target: 'storage_a:again' }))
  return next
}
