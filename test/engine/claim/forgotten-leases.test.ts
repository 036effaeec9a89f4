import { expect, test } from 'vitest'
import { ForgottenLeases } from '../../../src/engine/claim/active-passes.ts'

const held = (runId: string, fence = 1) => ({ runId, fence })

test('a lease that nobody executes is given back after five seconds, not at once', () => {
  const leases = new ForgottenLeases()
  const find = (now: number) => leases.find([held('run_a'), held('run_b')], { atWork: ['run_b'], now })
  expect(find(0)).toEqual([])
  expect(find(4_999)).toEqual([])
  expect(find(5_000)).toEqual([held('run_a')])
})

test('a lease that was at work meanwhile, or was claimed anew, is looked at from the beginning', () => {
  const leases = new ForgottenLeases()
  const find = (now: number, { fence = 1, atWork = [] as string[] } = {}) =>
    leases.find([held('run_a', fence)], { atWork, now })
  find(0)
  find(3_000, { atWork: ['run_a'] })
  expect(find(6_000)).toEqual([])
  expect(find(9_000, { fence: 2 })).toEqual([])
  expect(find(14_000, { fence: 2 })).toEqual([held('run_a', 2)])
})
