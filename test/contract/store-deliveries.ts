import { expect, test } from 'vitest'
import { planEndpoint } from '../../src/core/endpoint.ts'
import { incoming, NOW } from '../support/fixtures.ts'
import type { OpenStore } from './open-store.ts'

export function describeDeliveries(open: OpenStore): void {
  test('stores an event once and starts each workflow once', async () => {
    const { store } = open()
    const workflows = ['verify', 'inventory']
    expect(await store.saveDelivery(incoming('evt_1', { workflows }))).toMatchObject({ verdict: 'accepted' })
    expect(await store.saveDelivery(incoming('evt_1', { workflows }))).toEqual({ verdict: 'duplicate', runs: [] })

    expect(await store.listEvents({ limit: 10 })).toHaveLength(1)
    expect((await store.listRuns({ limit: 10 })).map((run) => run.workflow).sort()).toEqual(['inventory', 'verify'])
    expect((await store.listDeliveries({ limit: 10 })).map((delivery) => delivery.verdict)).toEqual([
      'duplicate',
      'accepted',
    ])
  })

  test('stores an event once when it comes many times at once', async () => {
    const { store } = open()
    const receipts = await Promise.all(Array.from({ length: 50 }, () => store.saveDelivery(incoming('evt_1'))))
    expect(receipts.filter((receipt) => receipt.verdict === 'accepted')).toHaveLength(1)
    expect(await store.listRuns({ limit: 100 })).toHaveLength(1)
  })

  test('calls a known event with another body a conflict and starts nothing', async () => {
    const { store } = open()
    await store.saveDelivery(incoming('evt_1'))
    const receipt = await store.saveDelivery(incoming('evt_1', { data: { file: { id: 'fil_other' } } }))
    expect(receipt).toEqual({ verdict: 'conflict', runs: [] })
    expect(await store.listRuns({ limit: 10 })).toHaveLength(1)
  })

  test('takes the same id from another account for another event', async () => {
    const { store } = open()
    await store.saveDelivery(incoming('evt_1', { account: 'one' }))
    expect(await store.saveDelivery(incoming('evt_1', { account: 'two' }))).toMatchObject({ verdict: 'accepted' })
  })

  test('keeps an event that no workflow wants', async () => {
    const { store } = open()
    expect(await store.saveDelivery(incoming('evt_1', { workflows: [] }))).toEqual({ verdict: 'accepted', runs: [] })
    expect(await store.listEvents({ limit: 10 })).toMatchObject([{ id: 'evt_1', type: 'file.created' }])
  })

  test('leaves a row of a refusal, with why and without a body', async () => {
    const { store } = open()
    await store.saveRefusal({
      id: 'dlv_1',
      endpointId: null,
      receivedAt: NOW,
      verdict: 'bad_signature',
      bodyBytes: 12,
      facts: { reason: 'mismatch' },
    })
    expect(await store.listDeliveries({ limit: 10 })).toEqual([
      {
        id: 'dlv_1',
        endpointId: null,
        receivedAt: NOW,
        verdict: 'bad_signature',
        eventId: null,
        bodyBytes: 12,
        facts: { reason: 'mismatch' },
      },
    ])
  })

  test('answers only after the commit: another process sees what was answered', async () => {
    const { store, reopen } = open()
    await store.saveDelivery(incoming('evt_1'))
    expect(await reopen().listEvents({ limit: 10 })).toHaveLength(1)
  })

  test('finds an event by its id, in each account that has it', async () => {
    const { store } = open()
    for (const name of ['one', 'two']) {
      await store.addEndpoint(planEndpoint({ name, account: name }, NOW))
      await store.saveDelivery(incoming('evt_1', { account: name }))
    }
    expect((await store.findEvents('evt_1')).map((event) => event.account).sort()).toEqual(['one', 'two'])
    expect(await store.findEvents('evt_2')).toEqual([])
  })
}
