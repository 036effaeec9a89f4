import { expect, test } from 'vitest'
import { ManualClock } from '../../src/core/time.ts'
import { NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'

describeStores((open) => {
  test('a store that can be written and is migrated says so', async () => {
    const { store } = open()
    expect(await store.checkWritable(NOW)).toEqual({ isMigrated: true })
  })

  test('a watch calls after writes of this process and of others, and only after writes', async () => {
    const { store, reopen } = open()
    const other = reopen()
    const clock = new ManualClock()
    let changes = 0
    const watch = store.watch(clock, () => void changes++)
    const look = async () => {
      const before = changes
      clock.advance(50)
      await new Promise(setImmediate)
      return changes - before
    }
    await look()
    expect(await look()).toBe(0)
    await queueRun(other)
    expect(await look()).toBe(1)
    await queueRun(store, 'evt_2')
    expect(await look()).toBe(1)
    expect(await look()).toBe(0)
    watch.stop()
    await queueRun(other, 'evt_3')
    expect(await look()).toBe(0)
  })
})
