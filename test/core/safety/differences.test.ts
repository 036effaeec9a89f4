import { expect, test } from 'vitest'
import { NO_DIFFERENCES } from '../../../src/core/safety/differences/difference.ts'
import { addLook, beginShadow, newGroups } from '../../../src/core/safety/differences/shadow-book.ts'

const LOOK = { followed: 20, late: [], missed: 0, found: NO_DIFFERENCES }
const group = (key: string, run: string) => ({ key, count: 1, bytes: 5, changes: [], samples: [{ run, event: null }] })
const unknown = (question: string) => ({ question, count: 1, samples: [] })

test('looks add up: counts, bytes, and the newest samples', () => {
  const found = { ...NO_DIFFERENCES, runs: 1, answered: 1, groups: [group('a', 'run_1')] }
  const once = addLook(beginShadow('a.shadow.ts', 10), { ...LOOK, found })
  let book = once
  for (let n = 2; n < 30; n++) book = addLook(book, { ...LOOK, found: { ...found, groups: [group('a', `run_${n}`)] } })
  expect(book.found).toMatchObject({ runs: 29, answered: 29, groups: [{ key: 'a', count: 29, bytes: 145 }] })
  expect(book.found.groups[0]?.samples.map(({ run }) => run).slice(0, 2)).toEqual(['run_29', 'run_28'])
  expect(book.found.groups[0]?.samples).toHaveLength(20)
  expect(newGroups(once, book)).toEqual([])
  expect(newGroups(beginShadow('a.shadow.ts', 10), once).map(({ key }) => key)).toEqual(['a'])
})

test('a book has a bound: of groups, of questions, and of runs that have not ended', () => {
  const many = Array.from({ length: 300 }, (_, n) => `key ${n}`)
  const found = {
    ...NO_DIFFERENCES,
    groups: many.map((key) => group(key, 'run_1')),
    cannotSay: many.map(unknown),
    refused: many.map((call) => ({ call, count: 1 })),
  }
  const late = Array.from({ length: 10_003 }, (_, n) => `run_${n}`)
  const book = addLook(beginShadow('a.shadow.ts', 10), { ...LOOK, late, missed: 1, found })
  expect(book.found.groups).toHaveLength(201)
  expect(book.found.groups[0]).toMatchObject({ key: 'others', count: 100 })
  expect(book.found.cannotSay).toHaveLength(201)
  expect(book.found.refused).toHaveLength(20)
  expect(book.late).toHaveLength(10_000)
  expect([book.late[0], book.missed]).toEqual(['run_3', 4])
})
