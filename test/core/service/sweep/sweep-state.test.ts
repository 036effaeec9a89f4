import { expect, test } from 'vitest'
import type { SweepPlan } from '../../../../src/core/service/sweep/sweep-plan.ts'
import { beginSweep, newState, type SweepState, takePage } from '../../../../src/core/service/sweep/sweep-state.ts'

const PLAN: SweepPlan = {
  account: 'default',
  path: '/',
  recursive: true,
  everyMs: 1,
  budget: 0.1,
  graceMs: 1,
  storage: 'storage_a',
  repair: 'report',
}

const LAST = { entries: 2, totalItems: 2, nextPage: null, nextToken: null, passedOver: 0 }
const TWO = { fresh: 2, freshFiles: 2, kept: 0 }

const begun = (): SweepState => beginSweep(newState(PLAN, null), 1)

test('a listing is complete where it saw as many entries as the service counts', () => {
  expect(takePage(begun(), LAST, TWO, 2)).toMatchObject({ phase: 'judging', baseline: 1, ended: { fault: null } })
  const withOther = { ...LAST, totalItems: 3, passedOver: 1 }
  expect(takePage(begun(), withOther, TWO, 2)).toMatchObject({ phase: 'judging', seen: 3, files: 2 })
})

test.each([
  ['that tells no total', [[{ ...LAST, totalItems: null }, TWO]], 'totals'],
  [
    'that ends before the total',
    [
      [{ ...LAST, totalItems: 3 }, TWO],
      [
        { ...LAST, totalItems: 3, entries: 0 },
        { fresh: 0, freshFiles: 0, kept: 0 },
      ],
    ],
    'totals',
  ],
  [
    'whose total falls',
    [
      [{ ...LAST, totalItems: 5, nextPage: 2 }, TWO],
      [{ ...LAST, totalItems: 4 }, TWO],
    ],
    'changed',
  ],
  [
    'that gives the same token again',
    [
      [{ ...LAST, totalItems: 9, nextToken: 't' }, TWO],
      [{ ...LAST, totalItems: 9, nextToken: 't' }, TWO],
    ],
    'repeated',
  ],
  [
    'whose page has nothing new',
    [
      [{ ...LAST, totalItems: 4, nextPage: 2 }, TWO],
      [
        { ...LAST, totalItems: 4 },
        { fresh: 0, freshFiles: 0, kept: 2 },
      ],
    ],
    'repeated',
  ],
] as const)('a listing %s is not complete, and is no baseline', (_name, pages, fault) => {
  const state = pages.reduce<SweepState>((before, [page, counts]) => takePage(before, page, counts, 2), begun())
  expect(state).toMatchObject({ phase: 'idle', baseline: null, complete: [], ended: { at: 2, fault } })
})
