import { expect } from 'vitest'
import type { Lease } from '../../src/core/runs/lease.ts'
import type { EffectList, EffectShare, ListRoom } from '../../src/core/safety/effect-group.ts'
import type { Store } from '../../src/core/store/store.ts'
import { checkpoint, NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { beginDelete, deleteAsk, limitOf } from './support/begin-delete.ts'
import { claimNext } from './support/claim-next.ts'
import { claimLease } from './support/waiting-runs.ts'

const options = { now: NOW, expiresAt: NOW + 86_400_000, needs: 1 }

const ask = (key: string, bytes = 10) =>
  deleteAsk(checkpoint(key, { target: `storage_a:${key}` }), { asked: { path: `/${key}`, bytes, modifiedAt: null } })

const sourceOf = ({ runId }: Lease) =>
  ({ runId, workflow: 'follow-up', account: 'default', storage: 'storage_a', folder: '/' }) as const
const listOf = (lease: Lease, number = 0): EffectList => ({ number, sources: [sourceOf(lease)] })
const share = (lease: Lease, count: number, most = 100): EffectShare => ({
  source: sourceOf(lease),
  class: 'delete',
  limits: [limitOf(most)],
  count,
  bytes: count * 10,
})

const begin = async (store: Store, lease: Lease, keys: readonly string[], room: ListRoom | null, number = 0) => {
  const part = { list: listOf(lease, number), room }
  const asks = keys.map((key) => ask(key))
  return (await store.beginPart(lease, asks, part, options)).map((permit) => permit?.kind ?? null)
}

/** The deletes that count in the hour, and those in the ledger. */
async function count(store: Store) {
  const uses = await store.listGuardUse(NOW)
  const use = uses.find(({ scope, window, ...each }) => scope === 'all' && window === 'hour' && each.class === 'delete')
  const rows = await store.listEffects({ phases: ['begun'], limit: 100 })
  return [use?.count ?? 0, use?.bytes ?? 0, rows.length]
}

describeStores((test) => {
  test('the places of a long list count from its decision on, and once, while its parts begin', async ({ store }) => {
    const lease = await claimLease(store, 'evt_1')
    expect(await begin(store, lease, ['a', 'b', 'c'], null)).toEqual([null, null, null])
    expect(await store.listSteps(lease.runId)).toEqual([])
    const room = await store.reserveEffects(lease, listOf(lease), [share(lease, 3, 3)], options)
    expect(room).toEqual({ kind: 'reserved' })
    expect(await count(store)).toEqual([3, 30, 0])
    const other = await claimLease(store, 'evt_2')
    expect(await beginDelete(store, other, checkpoint('x'), { limits: [limitOf(3)] })).toMatchObject({ kind: 'held' })
    expect(await begin(store, lease, ['a', 'b'], room)).toEqual(['granted', 'granted'])
    expect(await begin(store, lease, ['b', 'c'], room)).toEqual(['granted', 'granted'])
    expect(await count(store)).toEqual([3, 30, 3])
  })

  test('an effect for which a list has no place is not decided, and not begun', async ({ store }) => {
    const lease = await claimLease(store, 'evt_1')
    const room = await store.reserveEffects(lease, listOf(lease), [share(lease, 1)], options)
    expect(await begin(store, lease, ['a'], room, 1)).toEqual([null])
    expect(await begin(store, lease, ['a', 'b'], room)).toEqual(['granted', null])
    expect(await count(store)).toEqual([1, 10, 1])
  })

  test('nothing of a list without room begins, and all of its parts join one approval', async ({ store }) => {
    const lease = await claimLease(store, 'evt_1')
    const room = await store.reserveEffects(lease, listOf(lease), [share(lease, 4, 3)], options)
    expect(room).toEqual({ kind: 'full', limit: limitOf(3) })
    expect(await begin(store, lease, ['a', 'b'], room)).toEqual(['held', 'held'])
    expect(await begin(store, lease, ['c', 'd'], room)).toEqual(['held', 'held'])
    expect(await count(store)).toEqual([0, 0, 0])
    const approvals = await store.listApprovals({ limit: 9, now: NOW })
    expect(approvals).toMatchObject([{ items: 4, openItems: 4, bytes: 40 }])
  })

  test('the next pass gives back the places that were not used, whatever it asks for', async ({ store }) => {
    const lease = await claimLease(store, 'evt_1')
    const room = await store.reserveEffects(lease, listOf(lease), [share(lease, 5)], options)
    await begin(store, lease, ['a', 'b'], room)
    await store.releaseRun(lease)
    const { lease: next } = await claimNext(store)
    const again = await store.reserveEffects(next, listOf(next), [share(next, 3, 5)], options)
    expect(again).toEqual({ kind: 'reserved' })
    expect(await count(store)).toEqual([5, 50, 2])
    await store.releaseRun(next)
    const { lease: last } = await claimNext(store)
    expect(await beginDelete(store, last, checkpoint('z'), { limits: [limitOf(3)] })).toMatchObject({ kind: 'granted' })
    expect((await count(store))[0]).toBe(3)
  })

  test('the end of a run gives back the places that it has not used', async ({ store }) => {
    for (const end of ['cancel', 'complete'] as const) {
      const lease = await claimLease(store, `evt_${end}`)
      const before = await count(store)
      const room = await store.reserveEffects(lease, listOf(lease), [share(lease, 5)], options)
      await begin(store, lease, [`${end}-a`], room)
      if (end === 'cancel') await store.cancelRun(lease.runId, 'enough', NOW)
      else await store.completeRun(lease, 'null', NOW)
      expect(await count(store)).toEqual(before.map((value, index) => value + (index === 1 ? 10 : 1)))
    }
  })

  test('two lists of one pass keep their places apart', async ({ store }) => {
    const lease = await claimLease(store, 'evt_1')
    const [first, second] = [listOf(lease, 1), listOf(lease, 2)]
    await store.reserveEffects(lease, first, [share(lease, 2)], options)
    await store.reserveEffects(lease, second, [share(lease, 3)], options)
    expect((await count(store))[0]).toBe(5)
    await store.reserveEffects(lease, first, [share(lease, 1)], options)
    expect((await count(store))[0]).toBe(4)
  })

  test('no list is decided and no part begins under a stale lease', async ({ store }) => {
    const lease = await claimLease(store, 'evt_1')
    await store.cancelRun(lease.runId, 'enough', NOW)
    const stale = { code: 'stale_lease' }
    await expect(store.reserveEffects(lease, listOf(lease), [share(lease, 1)], options)).rejects.toMatchObject(stale)
    await expect(begin(store, lease, ['a'], { kind: 'reserved' })).rejects.toMatchObject(stale)
  })
})
