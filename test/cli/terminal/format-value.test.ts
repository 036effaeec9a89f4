import { expect, test } from 'vitest'
import { formatBytes, formatSpan, formatText } from '../../../src/cli/terminal/format-value.ts'
import { withIsoTimes } from '../../../src/core/time.ts'

test('foreign text loses its control characters and line breaks', () => {
  expect(formatText('a\u001B[31m\nb\u202Ec')).toBe('a [31m b⟨U+202e⟩c')
})

test.each([
  ['\u200B', '200b'],
  ['\u00AD', '00ad'],
  ['\uFEFF', 'feff'],
  ['\u3164', '3164'],
  ['\u{E0041}', 'e0041'],
  ['\u200D', '200d'],
  ['\uFE0F', 'fe0f'],
])('of two names that look alike, one shows its character %j', (unseen, number) => {
  expect(formatText(`/in/a${unseen}b.txt`)).toBe(`/in/a⟨U+${number}⟩b.txt`)
})

test('a joiner stays where it changes the shape of letters', () => {
  const names = 'می\u200Cخواهم.txt क्\u200Dष.txt'
  expect(formatText(names)).toBe(names)
})

test('an emoji of several characters stays one', () => {
  const emoji = '👨‍👩‍👧‍👦 ❤️ 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 👍🏽 🏳️‍🌈'
  expect(formatText(emoji)).toBe(emoji)
})

test.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [1_450, '1.4 s'],
  [59_999, '59.9 s'],
  [200_000, '3 min 20 s'],
  [7_500_000, '2 h 5 min'],
])('a duration of %i ms is shown as %s', (ms, text) => {
  expect(formatSpan(1_000, 1_000 + ms)).toBe(text)
})

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_500, '1.5 kB'],
  [2_000_000_000_000_000, '2000.0 TB'],
])('a size of %i bytes is shown as %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text)
})

test('withIsoTimes turns times into text and keeps other numbers', () => {
  expect(withIsoTimes({ at: 0, createdAt: 0, dueAt: null, attempt: 2 })).toEqual({
    at: '1970-01-01T00:00:00.000Z',
    createdAt: '1970-01-01T00:00:00.000Z',
    dueAt: null,
    attempt: 2,
  })
})
