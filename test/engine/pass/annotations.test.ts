import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Progress } from '../../../src/core/runs/annotations/progress.ts'
import { ManualClock } from '../../../src/core/time.ts'
import { RunProgress } from '../../../src/engine/pass/annotations.ts'

test('a clock that is set back by an hour keeps no word of a run back', async () => {
  const clock = new ManualClock()
  const saved: Pick<Progress, 'done' | 'rate'>[] = []
  const progress = new RunProgress({
    clock,
    save: async ({ done, rate }) => void saved.push({ done, rate }),
    load: async () => null,
    isReplaying: () => false,
    isClosed: () => false,
  })
  const tell = (done: number) => progress.tell({ done, total: 9, failed: 0, note: null })
  clock.advance('1s')
  tell(1)
  await turn()
  clock.set(clock.now() - 3_600_000)
  for (const done of [2, 4]) {
    tell(done)
    clock.advance('1s')
    await turn()
  }
  expect(saved).toEqual([
    { done: 1, rate: null },
    { done: 2, rate: null },
    { done: 4, rate: 2 },
  ])
})
