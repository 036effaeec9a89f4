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
