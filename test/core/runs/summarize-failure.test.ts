import { expect, test } from 'vitest'
import { StepError } from '../../../src/core/errors.ts'
import { summarizeFailure } from '../../../src/core/runs/failure-group.ts'

test('the failure of a step names the step once, and then the reason', () => {
  const { message } = new StepError('tell "the" owner', 2, { name: 'Error', message: 'no mail' })
  expect(summarizeFailure({ step: 'tell "the" owner', message })).toBe('tell "the" owner: no mail')
  expect(summarizeFailure({ step: 'copy', message: 'no luck' })).toBe('copy: no luck')
  expect(summarizeFailure({ message: 'no luck' })).toBe('no luck')
})
