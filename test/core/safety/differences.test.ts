import { expect, test } from 'vitest'
import { addDifferences, NO_DIFFERENCES } from '../../../src/core/safety/differences.ts'

const group = (key: string, run: string) => ({ key, count: 1, bytes: 5, changes: [], samples: [{ run, event: null }] })
const unknown = (question: string) => ({ question, count: 1, samples: [] })

test('pages add up: counts, bytes, and the first samples', () => {
  let sum = NO_DIFFERENCES
  for (let n = 1; n < 30; n++) {
    const found = { ...NO_DIFFERENCES, runs: 1, answered: 1, groups: [group('a', `run_${n}`)] }
    sum = addDifferences(sum, [found])
  }
  expect(sum).toMatchObject({ runs: 29, answered: 29, groups: [{ key: 'a', count: 29, bytes: 145 }] })
  expect(sum.groups[0]?.samples.map(({ run }) => run).slice(0, 2)).toEqual(['run_1', 'run_2'])
  expect(sum.groups[0]?.samples).toHaveLength(20)
})

test('a sum has a bound: of groups, of questions, and of refused calls', () => {
  const many = Array.from({ length: 1_100 }, (_, n) => `key ${n}`)
  const sum = addDifferences(NO_DIFFERENCES, [
    {
      ...NO_DIFFERENCES,
      groups: many.map((key) => group(key, 'run_1')),
      cannotSay: many.map(unknown),
      refused: many.map((call) => ({ call, count: 1 })),
    },
  ])
  expect(sum.groups).toHaveLength(1_001)
  expect(sum.groups[0]).toMatchObject({ key: 'others', count: 100 })
  expect(sum.cannotSay).toHaveLength(1_001)
  expect(sum.refused).toHaveLength(20)
})
