import { expect, test } from 'vitest'
import { formatTable } from '../../../src/cli/terminal/table.ts'

test('table columns are as wide as their widest value, and null is shown as a dash', () => {
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

test('table padding ignores color codes', () => {
  const columns = [
    { title: 'A', value: (row: string) => row, style: () => 'red' as const },
    { title: 'B', value: () => 'b' },
  ]
  expect(formatTable(['x', 'yy'], columns, (style, text) => `<${style}>${text}</>`).slice(1)).toEqual([
    '<red>x</>   b',
    '<red>yy</>  b',
  ])
})
