import { expect, test } from 'vitest'
import {
  formatBytes,
  formatMoment,
  formatSpan,
  formatText,
  withIsoTimes,
} from '../../../src/cli/terminal/format-value.ts'
import { formatTable } from '../../../src/cli/terminal/table.ts'

test('aligns columns to their widest value and shows a dash for nothing', () => {
  const rows = [
    { name: 'a', size: 5 },
    { name: 'longer than most', size: null },
  ]
  const table = formatTable(
    rows,
    [
      { title: 'NAME', value: ({ name }) => name, most: 8 },
      { title: 'SIZE', value: ({ size }) => size, align: 'right' },
    ],
    (_style, text) => text,
  )
  expect(table).toEqual(['NAME      SIZE', 'a            5', 'longer …     –'])
  expect(formatTable([], [{ title: 'NAME', value: () => 'x' }], (_style, text) => text)).toEqual([])
})

test('pads by what is seen, not by the codes of its colour', () => {
  const columns = [
    { title: 'A', value: (row: string) => row, style: () => 'red' as const },
    { title: 'B', value: () => 'b' },
  ]
  expect(formatTable(['x', 'yy'], columns, (style, text) => `<${style}>${text}</>`).slice(1)).toEqual([
    '<red>x</>   b',
    '<red>yy</>  b',
  ])
})

test('lets no foreign text steer the terminal', () => {
  expect(formatText('a\u001B[31m\nb\u202Ec')).toBe('a [31m b c')
})

test('shows the time alone for a moment of today', () => {
  const noon = new Date(2026, 5, 1, 12, 0, 5).getTime()
  expect(formatMoment(noon, noon + 3_600_000)).toBe('12:00:05')
  expect(formatMoment(noon, noon + 86_400_000)).toBe('2026-06-01 12:00')
  expect(formatMoment(null, noon)).toBeNull()
})

test.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [1_450, '1.4 s'],
  [59_999, '59.9 s'],
  [200_000, '3 min 20 s'],
  [7_500_000, '2 h 5 min'],
])('says %i ms as %s', (ms, text) => {
  expect(formatSpan(1_000, 1_000 + ms)).toBe(text)
})

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_500, '1.5 kB'],
  [2_000_000_000_000_000, '2000.0 TB'],
])('says %i bytes as %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text)
})

test('turns moments into text and leaves other numbers alone', () => {
  expect(withIsoTimes({ at: 0, createdAt: 0, dueAt: null, attempt: 2 })).toEqual({
    at: '1970-01-01T00:00:00.000Z',
    createdAt: '1970-01-01T00:00:00.000Z',
    dueAt: null,
    attempt: 2,
  })
})
