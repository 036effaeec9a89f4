import { expect, test, vi } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import type { Store } from '../../src/core/store/store.ts'
import { ManualClock } from '../../src/core/time.ts'
import { NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'

describeStores((open) => {
  test('a store that can be written and is migrated says so', async () => {
    const { store } = await open()
    expect(await store.checkWritable(NOW)).toEqual({ isMigrated: true })
  })

  test('a watch calls after writes of this process and of others, and only after writes', async () => {
    const { store, reopen } = await open()
    const other = await reopen()
    const clock = new ManualClock()
    let changes = 0
    const watch = store.watch(clock, () => void changes++)
    const look = async () => {
      clock.advance(50)
      await new Promise(setImmediate)
      return changes
    }
    // A hint may be lost, so that the write is repeated until one is heard.
    const hears = async (writer: Store) => {
      const before = await look()
      await vi.waitFor(async () => {
        await queueRun(writer, newId('evt', NOW))
        expect(await look()).toBeGreaterThan(before)
      })
    }
    const before = await look()
    expect(await look()).toBe(before)
    await hears(other)
    await hears(store)
    watch.stop()
    const heard = changes
    await queueRun(other, 'evt_3')
    expect(await look()).toBe(heard)
  })

  test('open runs are counted by what they wait for, with the age of the oldest pending one', async () => {
    const { store } = await open()
    const nothing = { pending: 0, running: 0, waiting: 0, forPerson: 0, failed: 0, oldestPendingAt: null }
    expect(await store.countOpenRuns()).toEqual(nothing)
    for (const event of ['evt_1', 'evt_2', 'evt_3', 'evt_4', 'evt_5', 'evt_6']) await queueRun(store, event)
    await store.startWorker('wrk_1', NOW)
    const [timed, stuck, awaiting, failing] = await store.claimRuns('wrk_1', 5, NOW)
    if (!timed || !stuck || !awaiting || !failing) throw new Error('they were queued')
    await store.parkRun(timed.lease, { dueAt: NOW + 1_000, reason: 'sleep' })
    await store.parkRun(stuck.lease, { dueAt: null, reason: 'code changed' })
    await store.parkRun(awaiting.lease, { dueAt: null, reason: 'waits for it', awaits: ['it'] })
    await store.failRun(failing.lease, { name: 'Error', message: 'no' }, NOW)
    expect(await store.countOpenRuns()).toEqual({
      pending: 1,
      running: 1,
      waiting: 3,
      forPerson: 1,
      failed: 1,
      oldestPendingAt: expect.any(Number),
    })
  })

  test('a run of a paused workflow waits for no person', async () => {
    const { store } = await open()
    await queueRun(store, 'evt_1', 'verify')
    await store.pauseWorkflow('verify', NOW)
    await store.holdRuns('verify', 10)
    expect(await store.countOpenRuns()).toMatchObject({ pending: 0, waiting: 1, forPerson: 0 })
  })
})
