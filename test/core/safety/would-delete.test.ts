import { expect, test } from 'vitest'
import { wouldDelete } from '../../../src/core/safety/effect.ts'

test('a delete that the code does not wait for counts, and one that leaves its file does not', () => {
  const outcomes = [null, 'deleted', 'changed', 'not_found', 'failed: it is a folder']
  expect(outcomes.filter((outcome) => wouldDelete({ class: 'delete', outcome }))).toEqual([null, 'deleted'])
  expect(wouldDelete({ class: 'write', outcome: null })).toBe(false)
})
