import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { BlockFilters } from '../../../../src/store/sqlite/incoming/block-filters.ts'

const ROWS = 512
/** More than a group, so that it has groups of all widths. */
const BLOCKS = 35

const identity = (n: number) => hash('sha256', String(n), 'buffer').subarray(0, 16)

function fill(): BlockFilters {
  const filters = new BlockFilters(ROWS)
  for (let n = 0; n < BLOCKS * ROWS; n++) filters.add(Math.floor(n / ROWS), identity(n))
  return filters
}

test('filters never deny what is in a block, name the newest block first, and are seldom wrong', () => {
  const filters = fill()
  let found = 0
  let wrong = 0
  for (let n = 0; n < BLOCKS * ROWS; n++) {
    const blocks = filters.find(identity(n))
    if (blocks.includes(Math.floor(n / ROWS))) found += 1
    wrong += blocks.length - 1
  }
  expect(found).toBe(BLOCKS * ROWS)
  expect(wrong / (BLOCKS * ROWS * (BLOCKS - 1))).toBeLessThan(0.0001)
  filters.add(3, identity(-1))
  filters.add(33, identity(-1))
  filters.add(31, identity(-1))
  expect(filters.find(identity(-1))).toEqual([33, 31, 3])
})

test('filters that were read and set by groups find the same, and take in more', () => {
  const filters = fill()
  const read = new BlockFilters(ROWS)
  for (const group of [0, 1]) read.setGroup(group, Buffer.from(filters.readGroup(group)))
  for (const each of [filters, read]) for (let block = 20; block < 60; block++) each.add(block, identity(-1))
  for (let n = -100; n < BLOCKS * ROWS; n += 7) expect(read.find(identity(n))).toEqual(filters.find(identity(n)))
})
