import { expect } from 'vitest'
import { incoming, NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'

describeStores((test, open) => {
  test('accepted events that no workflow starts on are counted by type, and repeated ones are not', async () => {
    const { store } = await open()
    const save = (id: string, type: string, at: number) =>
      store.saveDelivery({
        ...incoming(id, { workflows: [], receivedAt: at, facts: { unmatched: true } }),
        event: { id, type, created: '2026-05-01T12:00:00Z' },
      })
    await Promise.all([save('evt_1', 'file.moved', NOW), save('evt_2', 'file.moved', NOW + 5)])
    await save('evt_2', 'file.moved', NOW + 9)
    await save('evt_3', 'file.renamed', NOW + 7)
    await store.saveDelivery(incoming('evt_4', { workflows: ['a'] }))
    expect(await store.tallyUnmatched()).toEqual([
      { type: 'file.moved', events: 2, lastAt: NOW + 5 },
      { type: 'file.renamed', events: 1, lastAt: NOW + 7 },
    ])
  })
})
