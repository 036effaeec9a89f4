import { expect, test } from 'vitest'
import type { Backtest } from '../../../../../src/app/backtest/backtest.ts'
import { listUncompared } from '../../../../../src/cli/commands/safety/backtest/backtest-view.ts'
import { judgeBacktest } from '../../../../../src/cli/commands/safety/backtest/judge-backtest.ts'
import { type Group, NO_DIFFERENCES } from '../../../../../src/core/safety/differences.ts'

type Change = Group['changes'][number]

const changeOf = (part: Partial<Change>): Change => ({
  sign: '+',
  class: 'delete',
  operation: 'files.delete',
  target: null,
  from: null,
  to: null,
  text: '',
  ...part,
})
const groupOf = (...changes: Change[]): Group => ({ key: 'a', count: 1, bytes: 0, changes, samples: [] })
const foundOf = (part: Partial<Backtest>): Backtest => ({
  ...NO_DIFFERENCES,
  runs: 10,
  answered: 10,
  same: 10,
  unfinished: 0,
  guard: [],
  ...part,
})
const RULE = { failOn: 'any', required: 1, accepted: new Set<string>(), isThrottled: false, unknown: null } as const
const exitOf = (part: Partial<Backtest>, rule: Partial<Parameters<typeof judgeBacktest>[1]> = {}) =>
  judgeBacktest(foundOf(part), { ...RULE, ...rule }).exit

test('runs without a body lack an answer, and those that never started or go on need none', () => {
  expect(exitOf({ answered: 8, same: 8, noBody: 2 }, { required: 0.9 })).toBe('unknown')
  expect(exitOf({ answered: 5, same: 5, notStarted: 4, unfinished: 1 })).toBeNull()
  expect(exitOf({ answered: 0, same: 0, notStarted: 10 }, { required: 0.1 })).toBe('unknown')
  const words = listUncompared(foundOf({ noBody: 2, notStarted: 1, unfinished: 3 }))
  expect(words.map(([count, what]) => [count, what.split(':')[0]])).toEqual([
    [2, 'no body'],
    [1, 'not started'],
    [3, 'not finished yet'],
  ])
})

test('what cannot be said is no success, whatever counts as a difference, and a difference comes before it', () => {
  const cannotSay = [{ question: 'step "look"', count: 10, samples: [] }]
  const nothing = { answered: 0, same: 0, cannotSay }
  const exits = (['effects', 'ends', 'any', 'never'] as const).map((failOn) => exitOf(nothing, { failOn }))
  expect(exits).toEqual(['unknown', 'unknown', 'unknown', 'unknown'])
  expect(exitOf({ answered: 9, same: 9 })).toBe('unknown')
  expect(exitOf({ answered: 9, same: 9 }, { required: 0.9 })).toBeNull()
  expect(exitOf({ answered: 5, same: 4, groups: [groupOf(changeOf({}))] })).toBe('difference')
})

test('a held effect counts as an effect, an end as an end, and a result as neither', () => {
  const kinds = { held: changeOf({ class: 'held' }), end: changeOf({ class: 'end', to: 'completed' }) }
  const output = changeOf({ class: 'output' })
  const exits = (change: Change) =>
    (['effects', 'ends', 'any', 'never'] as const).map((failOn) => exitOf({ groups: [groupOf(change)] }, { failOn }))
  expect(exits(kinds.held)).toEqual(['difference', null, 'difference', null])
  expect(exits(kinds.end)).toEqual([null, 'difference', 'difference', null])
  expect(exits(output)).toEqual([null, null, 'difference', null])
  expect(exits(changeOf({ class: 'order' }))).toEqual(['difference', null, 'difference', null])
  expect(exits(changeOf({ class: 'start' }))).toEqual(['difference', 'difference', 'difference', null])
  // The group of all others may hold any of them.
  expect(exits(groupOf().changes[0] ?? output)).toEqual(exits(output))
  expect(exitOf({ groups: [groupOf()] }, { failOn: 'ends' })).toBe('difference')
})

test('reads that the limit of a key refused come before a difference, and a failed run before both sides', () => {
  const failing = groupOf(changeOf({ class: 'end', from: 'completed', to: 'failed: Error: no' }))
  expect(exitOf({ groups: [failing] })).toBe('failed')
  expect(exitOf({ groups: [failing] }, { isThrottled: true })).toBe('temporary')
  expect(exitOf({ groups: [failing] }, { accepted: new Set(['a']) })).toBeNull()
  expect(exitOf({ unsteady: [{ run: 'run_1', event: null }] })).toBe('failed')
  expect(exitOf({ refused: [{ call: 'fetch', count: 1 }] })).toBe('difference')
  expect(exitOf({ runs: 0 })).toBe('notFound')
})
