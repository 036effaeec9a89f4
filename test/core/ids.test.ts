import { expect, it } from 'vitest'
import { firstId, newId, randomWord } from '../../src/core/ids.ts'

it('makes an id of a prefix, a time and chance, in letters that nobody confuses', () => {
  expect(newId('run', Date.UTC(2026, 0, 1))).toMatch(/^run_[0-9a-hjkmnp-tv-z]{23}$/)
})

it('sorts ids of one millisecond in the order in which they were made', () => {
  const ids = Array.from({ length: 2_000 }, () => newId('run', 7))
  expect(ids.toSorted()).toEqual(ids)
})

it('keeps that order where another millisecond comes between', () => {
  const ids = Array.from({ length: 100 }, () => [newId('run', 7), newId('run', 8)] as const)
  const ofSeven = ids.map(([id]) => id)
  expect(ofSeven.toSorted()).toEqual(ofSeven)
})

it('tells where the ids of a moment begin', () => {
  const now = Date.UTC(2026, 0, 1)
  const [before, at, after] = [newId('dlv', now - 1), newId('dlv', now), newId('dlv', now + 1)]
  const sorted = [before, firstId('dlv', now), at, firstId('dlv', now + 1), after]
  expect(sorted.toSorted()).toEqual(sorted)
  expect(firstId('dlv', -5)).toBe(firstId('dlv', 0))
})

it('repeats no id within a millisecond', () => {
  const ids = Array.from({ length: 50_000 }, () => newId('run', 0))
  expect(new Set(ids).size).toBe(ids.length)
})

it('makes words of 32 digits that differ', () => {
  const words = Array.from({ length: 1_000 }, randomWord)
  expect(new Set(words).size).toBe(words.length)
  for (const word of words) expect(word).toMatch(/^[0-9a-hjkmnp-tv-z]{32}$/)
})
