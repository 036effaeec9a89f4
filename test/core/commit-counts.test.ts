import { expect, test } from 'vitest'
import { CommitCounts } from '../../src/core/commit-counts.ts'

test('commits are counted in the bucket that holds them, for every thread with the same memory', () => {
  const memory = CommitCounts.allocate()
  new CommitCounts(memory).add(3, 4, 0.2)
  new CommitCounts(memory).add(200, 2_000, 1)
  const { seconds, syncSeconds, writes } = new CommitCounts(memory).read()
  expect(seconds).toEqual({ counts: [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1], sum: 2.004 })
  expect(syncSeconds.counts).toEqual([0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0])
  expect(writes).toEqual({ counts: [0, 0, 1, 0, 0, 0, 0, 1], sum: 203 })
})
