import { expect, onTestFinished, test } from 'vitest'
import { ManualClock } from '../../../../src/core/time.ts'
import { queueRun } from '../../../support/fixtures.ts'
import { openTestStore } from '../../../support/test-store.ts'

function openWatch() {
  const store = openTestStore()
  const clock = new ManualClock()
  let changes = 0
  const watch = store.watch(clock, () => void changes++)
  onTestFinished(() => watch.stop())
  return {
    store,
    watch,
    clock,
    changes: () => changes,
    /** Moves the clock to the next poll and lets it end; returns the pause before it. */
    async poll() {
      const pauseMs = (clock.nextAt() ?? Number.NaN) - clock.now()
      clock.advance(pauseMs)
      await new Promise(setImmediate)
      return pauseMs
    },
  }
}

test('a change watch notices writes of another process at its next poll, and nothing else', async () => {
  const { store, poll, changes } = openWatch()
  await poll()
  const before = changes()
  await poll()
  expect(changes()).toBe(before)
  const other = openTestStore(store.folder)
  await queueRun(other)
  await poll()
  expect(changes()).toBe(before + 1)
  expect(await poll()).toBe(25)
  expect(changes()).toBe(before + 1)
})

test('a change watch polls less often while nothing happens, but at least every 50 ms', async () => {
  const { poll } = openWatch()
  const pauses: number[] = []
  for (let n = 0; n < 9; n++) pauses.push(await poll())
  expect(pauses).toEqual([25, 25, 30, 35, 40, 45, 50, 50, 50])
})
