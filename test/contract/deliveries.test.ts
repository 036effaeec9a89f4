import { expect } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import type { DeliveryQuery } from '../../src/core/incoming/delivery.ts'
import { planEndpoint } from '../../src/core/incoming/endpoint.ts'
import { incoming, NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'

describeStores((test, open) => {
  test('an event that is delivered many times at once is stored once', async ({ store }) => {
    const receipts = await Promise.all(Array.from({ length: 50 }, () => store.saveDelivery(incoming('evt_1'))))
    expect(receipts.filter((receipt) => receipt.verdict === 'accepted')).toHaveLength(1)
    expect(await store.listRuns({ limit: 100 })).toHaveLength(1)
  })

  test('a known event with another body is a conflict and starts nothing', async ({ store }) => {
    await store.saveDelivery(incoming('evt_1'))
    const receipt = await store.saveDelivery(incoming('evt_1', { data: { file: { id: 'fil_other' } } }))
    expect(receipt).toEqual({ verdict: 'conflict', runs: [] })
    expect(await store.listRuns({ limit: 10 })).toHaveLength(1)
  })

  test('an event that one endpoint leaves out is started once by the delivery of another', async ({
    store,
    reopen,
  }) => {
    await store.saveDelivery(incoming('evt_1', { workflows: [], facts: { leftOut: true } }))
    await store.saveDelivery(incoming('evt_2', { workflows: [] }))
    const other = await reopen()
    const again = await Promise.all(['evt_1', 'evt_2'].map((id) => other.saveDelivery(incoming(id))))
    expect(again.map(({ isLeftOut = false }) => isLeftOut)).toEqual([true, false])
    const wanted = ['evt_1', 'evt_1', 'evt_2', 'evt_3'].map((id, index) =>
      (index === 0 ? other : store).startLeftOut({ account: 'default', id }, ['verify', 'copy'], NOW),
    )
    expect((await Promise.all(wanted)).sort()).toEqual([0, 0, 0, 2])
    expect(await store.listRuns({ limit: 9 })).toMatchObject([
      { eventId: 'evt_1', status: 'pending', workflow: 'copy' },
      { eventId: 'evt_1', status: 'pending', workflow: 'verify' },
    ])
  })

  test('a delivery planned before a change of endpoints or routes is refused and stores nothing', async () => {
    const { store, reopen } = await open()
    const other = await reopen()
    const endpoint = planEndpoint({ name: 'main' }, NOW)
    const verify = { id: 'verify', file: 'verify.workflow.ts', eventTypes: ['file.*'], schedule: null }
    const changes = [
      () => other.addEndpoint(endpoint),
      () => other.updateEndpoint({ ...endpoint, status: 'disabled' }),
      () => other.saveWorkflows({ workflows: [verify], broken: [] }, NOW),
      () => other.removeEndpoint(endpoint, NOW),
    ]
    for (const change of changes) {
      const setup = await store.readSetupVersion()
      await change()
      const stale = store.saveDelivery(incoming('evt_1', { workflows: ['verify'], setup }))
      await expect(stale).rejects.toMatchObject({ code: 'stale_plan' })
      await new Promise(setImmediate)
    }
    expect(await store.listEvents({ limit: 10 })).toEqual([])
    const setup = await store.readSetupVersion()
    expect(await store.saveDelivery(incoming('evt_1', { setup }))).toMatchObject({ verdict: 'accepted' })
  })

  test('a delivery is answered after its commit: another process sees the event', async ({ store, reopen }) => {
    await store.saveDelivery(incoming('evt_1'))
    expect(await (await reopen()).listEvents({ limit: 10 })).toHaveLength(1)
  })

  test('deliveries are listed by endpoint, by verdict and since a moment', async ({ store }) => {
    const at = (eventId: string, receivedAt: number, endpointId: string) =>
      store.saveDelivery(incoming(eventId, { id: newId('dlv', receivedAt), receivedAt, endpointId }))
    await at('evt_1', NOW, 'end_a')
    await at('evt_1', NOW + 1, 'end_a')
    await at('evt_2', NOW + 2, 'end_b')
    await at('evt_3', NOW + 3, 'end_a')
    const idsOf = async (query: Omit<DeliveryQuery, 'limit'>) =>
      (await store.listDeliveries({ limit: 10, ...query })).map(({ eventId, verdict }) => `${eventId} ${verdict}`)
    expect(await idsOf({ endpointId: 'end_a', since: NOW + 1 })).toEqual(['evt_3 accepted', 'evt_1 duplicate'])
    expect(await idsOf({ verdicts: ['duplicate', 'conflict'] })).toEqual(['evt_1 duplicate'])
    expect(await idsOf({ verdicts: ['accepted'], endpointId: 'end_b' })).toEqual(['evt_2 accepted'])
    expect(await idsOf({ since: NOW + 4 })).toEqual([])
    expect(await store.countDeliveries('end_a', NOW + 1)).toEqual({ accepted: 1, duplicate: 1 })
  })

  test('the events of many deliveries and runs come with the ids that were asked', async ({ store }) => {
    await store.saveDelivery(incoming('evt_1'))
    await store.saveDelivery(incoming('evt_1'))
    await store.saveDelivery(incoming('evt_2', { workflows: [] }))
    const [deliveries, runs] = [await store.listDeliveries({ limit: 9 }), await store.listRuns({ limit: 9 })]
    const owned = async (owner: 'run' | 'delivery', ids: string[]) =>
      (await store.listEventsOf(owner, ids)).map(({ of, event }) => `${of} ${event.id}`).sort()
    const expected = deliveries.map(({ id, eventId }) => `${id} ${eventId}`).sort()
    expect(await owned('delivery', [...deliveries.map(({ id }) => id), 'dlv_none'])).toEqual(expected)
    expect(await owned('run', [...runs.map(({ id }) => id)])).toEqual(runs.map(({ id }) => `${id} evt_1`))
  })

  test('a delivery is found with its event, and the deliveries of an event within its account', async ({ store }) => {
    const first = incoming('evt_1', { account: 'one' })
    const later = NOW + 86_400_000
    const again = incoming('evt_1', { account: 'one', id: newId('dlv', later), receivedAt: later })
    const other = incoming('evt_1', { account: 'two' })
    for (const delivery of [first, other, again]) await store.saveDelivery(delivery)
    expect(await store.findDelivery(again.id)).toMatchObject({
      delivery: { id: again.id, verdict: 'duplicate' },
      event: { id: 'evt_1', account: 'one', body: first.body },
    })
    const idsOf = async (account: string, limit = 10) =>
      (await store.listDeliveriesOf({ id: 'evt_1', account }, limit)).map(({ id }) => id)
    expect([await idsOf('one'), await idsOf('two'), await idsOf('one', 1), await idsOf('none')]).toEqual([
      [again.id, first.id],
      [other.id],
      [again.id],
      [],
    ])
    expect(await store.findDelivery('dlv_none')).toBeNull()
    const runs = await store.listRuns({ limit: 10, eventId: 'evt_1', account: 'two' })
    expect(runs).toHaveLength(1)
    expect(await store.listRuns({ limit: 10, eventId: 'evt_1', account: 'one' })).not.toEqual(runs)
  })
})
