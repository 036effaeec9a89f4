import { expect, test } from 'vitest'
import { NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'

describeStores((open) => {
  test('a store that can be written and is migrated says so', async () => {
    const { store } = open()
    expect(await store.checkWritable(NOW)).toEqual({ isMigrated: true })
  })

  test('the change count changes with each write of any process', async () => {
    const { store, reopen } = open()
    const other = reopen()
    const counts = [await store.changeCount(), await store.changeCount()]
    expect(counts[0]).toBe(counts[1])
    await queueRun(other)
    const third = await store.changeCount()
    await queueRun(store, 'evt_2')
    expect(new Set([counts[0], third, await store.changeCount()]).size).toBe(3)
  })
})
