import { expect, test } from 'vitest'
import { readWorkflowGuard } from '../../../src/core/safety/guard-schema.ts'

test('the guard of a workflow is parsed once, however many passes ask for it', () => {
  const guard = { deletes: { perRun: 5, share: '10%' }, bytes: { perDay: '1 GB' } }
  const limits = readWorkflowGuard({ guard })
  expect(limits).toEqual({ deletes: { perRun: 5, share: 0.1 }, bytes: { perDay: 1_000_000_000 } })
  expect(readWorkflowGuard({ guard })).toBe(limits)
  expect(readWorkflowGuard({})).toBeUndefined()
})
