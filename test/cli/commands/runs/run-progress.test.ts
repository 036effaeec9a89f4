import { expect, test } from 'vitest'
import { describeProgress, drawBar } from '../../../../src/cli/commands/runs/run-view.ts'

const HALF = { done: 3_412, total: 10_000, failed: 4, note: null, rate: 12 }

test.each([
  [HALF, '3,412 of 10,000, 4 failed, 12/s, 10 min left'],
  [{ ...HALF, failed: 0, note: 'files compared', rate: null }, '3,412 of 10,000 files compared'],
  [{ ...HALF, done: 9_990, rate: 0.2 }, '9,990 of 10,000, 4 failed, 12/min, 30 s left'],
  [{ ...HALF, rate: 0.75 }, '3,412 of 10,000, 4 failed, 0.8/s, 2 h 27 min left'],
  [{ ...HALF, done: 9_996 }, '9,996 of 10,000, 4 failed, 12/s'],
])('progress in words says what is done, failed, how fast and how long still: %#', (progress, words) => {
  expect(describeProgress(progress, true)).toBe(words)
})

test('a run that is not at work has neither rate nor time left', () => {
  expect(describeProgress(HALF, false)).toBe('3,412 of 10,000, 4 failed')
})

test('a bar is never full before all is over, nor longer than its cells', () => {
  expect(drawBar(HALF, 10)).toBe('███·······  34 %')
  expect(drawBar({ ...HALF, done: 9_995 }, 10)).toBe('█████████·  99 %')
  expect(drawBar({ ...HALF, done: 20_000 }, 10)).toBe('██████████ 100 %')
  expect(drawBar({ ...HALF, done: 0, total: 0, failed: 0 }, 10)).toBe('██████████ 100 %')
})
