import { expect, test } from 'vitest'
import { findUsual, joinUsual } from '../../../src/core/runs/usual-time.ts'

test('the usual time is the median and the 95th percentile, and unknown without durations', () => {
  expect(findUsual(Array.from({ length: 100 }, (_, ms) => 99 - ms))).toEqual({ p50Ms: 50, p95Ms: 95 })
  expect(findUsual([7])).toEqual({ p50Ms: 7, p95Ms: 7 })
  expect(findUsual([])).toBeNull()
})

test('an hour counts by its runs, and one without ended runs not at all', () => {
  const hour = (runs: number, p50Ms: number | null) => ({ runs, p50Ms, p95Ms: p50Ms === null ? null : p50Ms * 2 })
  expect(joinUsual([hour(1, 1_000), hour(50, 20), hour(49, 30), hour(9, null)])).toEqual({ p50Ms: 20, p95Ms: 40 })
  expect(joinUsual([hour(3, null)])).toBeNull()
})
