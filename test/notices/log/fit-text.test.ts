import { expect, test } from 'vitest'
import { columnsOf, cutEnd, wrapText } from '../../../src/notices/log/fit-text.ts'

test.each([
  ['plain', 5],
  ['請求書', 6],
  ['e\u0301a\u0308', 2],
  ['שלום', 4],
  ['👩‍👩‍👧', 2],
  ['a\u200Bb', 2],
])('the width of %s is that of a terminal: %i columns', (text, width) => {
  expect(columnsOf(text)).toBe(width)
})

test('marks that are piled up on one letter do not make a cell endless', () => {
  expect(cutEnd(`a${'\u0301'.repeat(100_000)}`, 8).length).toBeLessThan(300)
})

test('a text that wraps loses its line breaks, and shows an odd space in a name', () => {
  expect(wrapText('moved\n  a\u00A0b', 80, 5)).toEqual(['moved a⟨U+00a0⟩b'])
})
