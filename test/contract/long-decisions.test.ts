import { expect } from 'vitest'
import type { Lease } from '../../src/core/runs/lease.ts'
import type { Store } from '../../src/core/store/store.ts'
import { NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { claimNext } from './support/claim-next.ts'
import { ask, carryAll, decide, hold, OPTIONS, SIZE, statesOf } from './support/long-lists.ts'

describeStores((test) => {
  test('a long list is decided in one commit, and its items are told in several', async ({ store }) => {
    const { lease, approval, hash } = await hold(store)
    const result = await decide(store, approval, hash)
    expect(result).toMatchObject({ status: 'approved', granted: SIZE, moved: 0, next: null, woken: 1 })
    expect(await statesOf(store, approval)).toEqual({ approved: 250, open: SIZE - 250 })
    expect(await carryAll(store)).toBe(2)
    expect(await statesOf(store, approval)).toEqual({ approved: SIZE })
    const { lease: next } = await claimNext(store)
    expect(new Set(await ask(store, next, 1, SIZE))).toEqual(new Set(['granted']))
    expect(next.runId).toBe(lease.runId)
  })

  test('an item is granted as soon as its list is decided, whether or not it has been told', async ({ store }) => {
    const { approval, hash } = await hold(store)
    await decide(store, approval, hash)
    const { lease } = await claimNext(store)
    expect(await ask(store, lease, SIZE, SIZE)).toEqual(['granted'])
    await carryAll(store)
    expect(await ask(store, lease, SIZE, SIZE)).toEqual(['granted'])
    expect(await store.listEffects({ phases: ['begun'], limit: 9 })).toHaveLength(1)
  })

  test('what was left out of a long list never begins, and is in the next approval in its order', async ({ store }) => {
    const { approval, hash } = await hold(store)
    const result = await decide(store, approval, hash, { only: [{ from: 1, to: 300 }] })
    expect(result).toMatchObject({ granted: 300, moved: SIZE - 300, next: expect.stringMatching(/^apr_/) })
    const { lease } = await claimNext(store)
    expect(await ask(store, lease, 300, 301, 1_000)).toEqual(['granted', 'held'])
    await carryAll(store)
    expect(await ask(store, lease, 300, 301, 1_000)).toEqual(['granted', 'held'])
    expect(await statesOf(store, approval)).toEqual({ approved: 300, moved: SIZE - 300 })
    const items = await store.listApprovalItems({ approval: result.next ?? '', limit: SIZE })
    expect(items.map(({ step }) => step)).toEqual(Array.from({ length: SIZE - 300 }, (_, n) => `d${n + 301}`))
    expect(await store.findApproval(result.next ?? '', NOW)).toMatchObject({ openItems: SIZE - 300, status: 'open' })
    await decide(store, result.next ?? '', items.at(-1)?.hash ?? '')
    await carryAll(store)
    expect(await ask(store, lease, 301, 301)).toEqual(['granted'])
  })

  test('a denial and an expiry of a long list hold for items that have not been told', async ({ store }) => {
    const { approval, hash } = await hold(store)
    expect(await decide(store, approval, hash, { verdict: 'denied' })).toMatchObject({ status: 'denied', woken: 1 })
    const { lease } = await claimNext(store)
    expect(await ask(store, lease, SIZE, SIZE)).toEqual(['denied'])
    await carryAll(store)
    expect(await statesOf(store, approval)).toEqual({ denied: SIZE })
    await store.cancelRun(lease.runId, 'enough', NOW)
    const later = await hold(store, 'evt_2')
    const { lease: other } = await claimOf(store, later.lease)
    const expired = OPTIONS.expiresAt
    expect(await ask(store, other, 1, 1, 0, expired)).toEqual(['denied'])
    expect(await ask(store, other, SIZE, SIZE, 0, expired)).toEqual(['denied'])
    await carryAll(store)
    expect(await statesOf(store, later.approval)).toEqual({ expired: SIZE })
  })

  test('a run that ends while its list is moved leaves no open approval behind', async ({ store }) => {
    const { lease, approval, hash } = await hold(store)
    await decide(store, approval, hash, { only: [{ from: 1, to: 300 }] })
    await store.cancelRun(lease.runId, 'enough', NOW)
    await carryAll(store)
    expect(await store.listApprovals({ status: 'open', limit: 9, now: NOW })).toEqual([])
  })
})

/** Wakes the run by hand and claims it. */
async function claimOf(store: Store, lease: Lease) {
  await store.askAgain()
  const claimed = await claimNext(store)
  expect(claimed.lease.runId).toBe(lease.runId)
  return claimed
}
