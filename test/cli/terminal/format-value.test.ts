import { expect, test } from 'vitest'
import { formatBytes, formatSpan, formatText } from '../../../src/cli/terminal/format-value.ts'
import { withIsoTimes } from '../../../src/core/time.ts'

test('foreign text shows its control characters and line breaks, and they do nothing', () => {
  expect(formatText('a\u001B[31m\nb\u202Ec\u009Bd')).toBe('a␛[31m␊b⟨U+202e⟩c⟨U+009b⟩d')
})

test('of many names that a terminal would show alike, no two look alike', () => {
  const names = ['a b', 'a\tb', 'a\nb', 'a\r\nb', 'a\u00A0b', 'a\u3000b', 'a␊b', 'a b ', 'a⟨U+00a0⟩b']
  expect(names.map((name) => formatText(name))).toEqual([
    'a b',
    'a␉b',
    'a␊b',
    'a␍␊b',
    'a⟨U+00a0⟩b',
    'a⟨U+3000⟩b',
    'a⟨U+240a⟩b',
    'a b␠',
    'a⟨U+27e8⟩U+00a0⟩b',
  ])
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

test('names in the spelling of macOS stay readable', () => {
  const names = 're\u0301sume\u0301.pdf \u1112\u1161\u11AB.txt \u0958.txt'
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
