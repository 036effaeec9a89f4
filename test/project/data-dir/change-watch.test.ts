import { expect, onTestFinished, test } from 'vitest'
import { ManualClock } from '../../../src/core/time.ts'
import { ChangeWatch } from '../../../src/project/data-dir/change-watch.ts'
import { queueRun } from '../../support/fixtures.ts'
import { openTestStore } from '../../support/test-store.ts'

function openWatch() {
  const store = openTestStore()
  const clock = new ManualClock()
  let changes = 0
  const watch = new ChangeWatch({ store, clock, onChange: () => void changes++ })
  onTestFinished(() => watch.stop())
  watch.start()
  return {
    store,
    watch,
    clock,
    changes: () => changes,
    /**
     * Moves to the next look and resolves when it is over; gives how long after the last one it
     * came.
     */
    async look() {
      const pauseMs = (clock.nextAt() ?? Number.NaN) - clock.now()
      clock.advance(pauseMs)
      await new Promise(setImmediate)
      return pauseMs
    },
  }
}

test('notices what another process has written at its next look, 25 ms later, and nothing else', async () => {
  const { store, look, changes } = openWatch()
  await look()
  const before = changes()
  await look()
  expect(changes()).toBe(before)
  const other = openTestStore(store.folder)
  await queueRun(other)
  await look()
  expect(changes()).toBe(before + 1)
  expect(await look()).toBe(25)
  expect(changes()).toBe(before + 1)
})

test('looks less often while nothing happens, but at least every 50 ms', async () => {
  const { look } = openWatch()
  const pauses: number[] = []
  for (let n = 0; n < 9; n++) pauses.push(await look())
  expect(pauses).toEqual([25, 25, 30, 35, 40, 45, 50, 50, 50])
})

test('looks no more once it is stopped, twice if need be', async () => {
  const { watch, clock } = openWatch()
  await Promise.all([watch.stop(), watch.stop()])
  watch.start()
  expect(clock.nextAt()).toBeNull()
})
