import { expect } from 'vitest'
import { checkpoint, incoming, NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { beginDelete } from './support/begin-delete.ts'
import { claimNext } from './support/claim-next.ts'

/** The prefix of an id and its 9 digits of time. */
const timeOf = (id = '') => id.slice(0, 13)

describeStores((test, open) => {
  test('runs and deliveries are found by the beginnings of their ids, oldest first, up to a limit', async () => {
    const { store } = await open()
    const runs = [await queueRun(store, 'evt_1'), await queueRun(store, 'evt_2'), await queueRun(store, 'evt_3')]
    const [first = '', second = ''] = runs
    expect(await store.listRunIds(timeOf(first), 9)).toEqual(runs)
    expect(await store.listRunIds(timeOf(first), 2)).toEqual([first, second])
    expect(await store.listRunIds(second.slice(0, 17), 9)).toEqual([second])
    expect(await store.listRunIds(second, 9)).toEqual([second])
    expect(await store.listRunIds(`${second}0`, 9)).toEqual([])

    const deliveries = [incoming('evt_4'), incoming('evt_5')]
    for (const delivery of deliveries) await store.saveDelivery(delivery)
    const [, last] = deliveries.map(({ id }) => id)
    expect(await store.listDeliveryIds(last?.slice(0, 17) ?? '', 9)).toEqual([last])
    expect(await store.listDeliveryIds(timeOf(last), 9)).toEqual(expect.arrayContaining(deliveries.map(({ id }) => id)))
  })

  test('approvals are found by the beginnings of their ids', async ({ store }) => {
    const ids: string[] = []
    for (const key of ['a', 'b']) {
      await queueRun(store, `evt_${key}`)
      const { lease } = await claimNext(store, NOW)
      const step = checkpoint(key, { effect: 'delete', target: `storage_a:${key}` })
      const limit = {
        scope: 'all',
        what: 'deletes',
        window: 'hour',
        most: 0,
        setting: `guard.${key}`,
        over: 'approve',
      } as const
      await beginDelete(store, lease, step, { limits: [limit], asked: { path: key, bytes: 1, modifiedAt: null } })
      const [newest] = await store.listApprovals({ limit: 1, now: NOW })
      ids.push(newest?.id ?? '')
    }
    const [first, second] = ids
    expect(await store.listApprovalIds(timeOf(first), 9)).toEqual([first, second])
    expect(await store.listApprovalIds(second?.slice(0, 17) ?? '', 9)).toEqual([second])
    expect(await store.listApprovalIds('apr_zzzz', 9)).toEqual([])
  })
})
