import { expect, test } from 'vitest'
import { describeCause, describeReason } from '../../../../src/cli/commands/runs/run-view.ts'

const WAITING = { status: 'waiting', dueAt: null, isInLine: false, error: null, resolution: null } as const

test.each([
  ['the tick before it is not finished', false, 'the tick before it is not finished'],
  ['waits for file.created', false, 'waits for file.created'],
  ['the code has diverged', true, 'the code has diverged, waits for a person'],
])('a run that waits because %j, with needsPerson %s, reads %j', (reason, needsPerson, text) => {
  expect(describeReason({ ...WAITING, reason, needsPerson })).toBe(text)
})

test('a reason that ends as a sentence loses its full stop before the moment', () => {
  const reason = 'next attempt of step "read": The limit allows no request soon enough.'
  const shown = describeReason({ ...WAITING, reason, dueAt: '2030-01-01T00:00:00.000Z', needsPerson: false })
  expect(shown).toMatch(/soon enough, until 2030/)
})

test('a run in line tells its moment in the time of this machine', () => {
  const reason = 'batch: 1 of 10000, until 2030-01-01T12:00:00.000Z'
  expect(describeReason({ ...WAITING, reason, isInLine: true, needsPerson: false })).toMatch(
    /until 2030-01-01 \d\d:\d\d$/,
  )
})

test('a run that nothing caused was started by hand', () => {
  const nothing = { eventId: null, tickAt: null, origin: 'event', parentRun: null } as const
  expect(describeCause(nothing)).toBe('by hand')
  expect(describeCause({ ...nothing, parentRun: 'run_1' })).toBe('invoked by run_1')
})
