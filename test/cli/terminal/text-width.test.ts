import { expect, test } from 'vitest'
import { cutToWidth, widthOf } from '../../../src/cli/terminal/table.ts'

test.each([
  ['plain', 5],
  ['請求書', 6],
  ['e\u0301a\u0308', 2],
  ['שלום', 4],
  ['👩‍👩‍👧', 2],
  ['a\u200Bb', 2],
])('the width of %s is that of a terminal: %i columns', (text, width) => {
  expect(widthOf(text)).toBe(width)
})

test('marks that are piled up on one letter do not make a cell endless', () => {
  expect(cutToWidth(`a${'\u0301'.repeat(100_000)}`, 8, 'end').length).toBeLessThan(300)
})
