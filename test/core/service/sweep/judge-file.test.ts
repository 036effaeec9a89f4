import { expect, test } from 'vitest'
import { isFlood, judgeArrival, judgeDeparture } from '../../../../src/core/service/sweep/judge-file.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

const sweep = (number: number, isExact: boolean | null = null) => ({
  number,
  startedAt: number * DAY,
  endedAt: number * DAY + MINUTE,
  entries: 1,
  files: 1,
  isExact,
})
const COMPLETE = { complete: [sweep(1), sweep(2)] }
const WHOLE = { path: '/', recursive: true }
const NONE = { unread: null, forgottenTo: null }

test.each([
  [50, 10_000, false],
  [51, 10_000, true],
  [1, 20, false],
  [2, 20, true],
  [0, 0, false],
])('%i missing events of %i files: %s is a flood', (missing, files, expected) => {
  expect(isFlood(missing, files)).toBe(expected)
})

test('a file came while we looked if its date says so, or an exact sweep did not have it', () => {
  const file = { firstSweep: 3, createdAt: 2 * DAY + 5 * MINUTE }
  expect(judgeArrival(file, WHOLE, COMPLETE, NONE)).toBe(true)
  expect(judgeArrival(file, { ...WHOLE, path: '/in' }, COMPLETE, NONE)).toBe(true)
  // The clocks of service and app differ.
  const early = { ...file, createdAt: file.createdAt - 1 }
  expect(judgeArrival(early, WHOLE, COMPLETE, NONE)).toContain('pages may have shifted')
  const exact = { complete: [sweep(1, true), sweep(2)] }
  expect(judgeArrival(early, WHOLE, exact, NONE)).toBe(true)
  expect(judgeArrival({ ...early, createdAt: null }, WHOLE, exact, NONE)).toBe(true)
  expect(judgeArrival(early, { ...WHOLE, recursive: false }, exact, NONE)).toContain('moved here')
  expect(judgeArrival({ ...early, firstSweep: 1 }, WHOLE, exact, NONE)).toContain('no complete sweep')
})

test('a file that may be one of those that are forgotten is unclear', () => {
  const exact = { complete: [sweep(1, true), sweep(2)] }
  const judge = (createdAt: number | null) =>
    judgeArrival({ firstSweep: 3, createdAt }, WHOLE, exact, { unread: null, forgottenTo: DAY })
  expect(judge(DAY + 5 * MINUTE)).toBe(true)
  expect(judge(DAY + 5 * MINUTE - 1)).toContain('forgotten')
  expect(judge(null)).toContain('forgotten')
})

test('an event without a readable file makes unclear what came or went since, and nothing before', () => {
  const unread = { count: 1, lastAt: 2 * DAY, event: 'evt_odd' }
  const file = { firstSweep: 3, createdAt: 3 * DAY }
  expect(judgeArrival(file, WHOLE, COMPLETE, { ...NONE, unread })).toContain('evt_odd')
  const before = { ...unread, lastAt: 2 * DAY - 1 }
  expect(judgeArrival(file, WHOLE, COMPLETE, { ...NONE, unread: before })).toBe(true)
  expect(judgeDeparture({ lastSweep: 2 }, COMPLETE, unread)).toContain('evt_odd')
  expect(judgeDeparture({ lastSweep: 2 }, COMPLETE, before)).toBe(true)
  // The sweep that last saw it is not remembered.
  expect(judgeDeparture({ lastSweep: 0 }, COMPLETE, before)).toContain('evt_odd')
})
