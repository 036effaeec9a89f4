import { expect, test } from 'vitest'
import { type Blockage, countEnd, type EngineEnds, observeBeat } from '../../src/core/blockage.ts'

/** The last look of a watcher; each look has the moment and the beat that it saw. */
function watch(looks: readonly (readonly [now: number, beat: number])[]): Blockage | null {
  return looks.reduce<Blockage | null>((before, [now, beat]) => observeBeat(before, { beat, now }, 1_000), null)
}

test('a loop counts as blocked from the last beat that was seen', () => {
  expect(
    watch([
      [0, 1],
      [1_000, 1],
      [2_000, 1],
    ]),
  ).toMatchObject({ blockedMs: 2_000 })
  expect(
    watch([
      [0, 1],
      [1_000, 1],
      [2_000, 2],
    ]),
  ).toMatchObject({ blockedMs: 0 })
})

test('time in which the watcher was suspended itself counts as two looks at most', () => {
  expect(
    watch([
      [0, 1],
      [1_000, 1],
      [3_601_000, 1],
    ]),
  ).toMatchObject({ blockedMs: 3_000 })
})

test('a clock that is set back blocks nothing', () => {
  expect(
    watch([
      [10_000, 1],
      [0, 1],
    ]),
  ).toMatchObject({ blockedMs: 0 })
})

test('the first engine that ends is followed at once, the next ones after pauses that double up to 30 s', () => {
  const pauses: number[] = []
  let ends: EngineEnds | null = null
  for (let each = 0; each < 10; each++) {
    ends = countEnd(ends, 10)
    pauses.push(ends.pauseMs)
  }
  expect(pauses).toEqual([0, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  expect(countEnd(ends, 60_000)).toEqual({ count: 1, pauseMs: 0 })
})
