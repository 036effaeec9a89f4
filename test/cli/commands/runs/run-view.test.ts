import { expect, test } from 'vitest'
import { describeReason } from '../../../../src/cli/commands/runs/run-view.ts'

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
