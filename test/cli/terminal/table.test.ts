import { expect, test } from 'vitest'
import { type Column, formatTable, type Layout } from '../../../src/cli/terminal/table.ts'

const PLAIN: Layout = { width: null, paint: (_style, text) => text }

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
    PLAIN,
  )
  expect(table).toEqual(['NAME      SIZE', 'a            5', 'longer …     –'])
  expect(formatTable([], [{ title: 'NAME', value: () => 'x' }], PLAIN)).toEqual([])
})

test('a table takes from its widest columns until it fits the terminal, and cuts paths at their start', () => {
  const rows = [{ id: 'run_1', path: 'storage_a:/in/q3/ledger-6431.json', why: 'a long reason that is cut' }]
  const columns: Column<(typeof rows)[number]>[] = [
    { title: 'ID', value: ({ id }) => id, cut: 'never' },
    { title: 'PATH', value: ({ path }) => path, cut: 'start' },
    { title: 'WHY', value: ({ why }) => why },
  ]
  const [, line = ''] = formatTable(rows, columns, { ...PLAIN, width: 40 })
  expect(line).toBe('run_1  …dger-6431.json  a long reason t…')
  expect(line.length).toBeLessThanOrEqual(40)
  expect(formatTable(rows, columns, { ...PLAIN, width: 5 })[1]).toBe('run_1  …31.json  a long …')
  expect(formatTable(rows, columns, PLAIN)[1]).toContain('storage_a:/in/q3/ledger-6431.json  a long reason that is cut')
})

test('ids are as short as they stay unique in their table, and whole where no terminal is', () => {
  const ids = ['run_1kt1gw6g3001d4qz5qx72wb', 'run_1kt1gw6g3001d4qz9999999', 'evt_a_long_id_of_the_service']
  const columns: Column<string>[] = [{ title: 'ID', value: (id) => id, isId: true }]
  expect(formatTable(ids, columns, { ...PLAIN, width: 80 }).slice(1)).toEqual([
    'run_1kt1gw6g3001d4qz5',
    'run_1kt1gw6g3001d4qz9',
    'evt_a_long_id_of_the_service',
  ])
  expect(formatTable(ids.slice(1), columns, { ...PLAIN, width: 80 })[1]).toBe('run_1kt1gw6g3001d')
  expect(formatTable(ids, columns, PLAIN)[1]).toBe(ids[0])
})

test('a table may have more rows than a call has arguments', () => {
  const rows = Array.from({ length: 200_000 }, (_, index) => String(index))
  const lines = formatTable(rows, [{ title: 'NUMBER', value: (row) => row }], { paint: (_, text) => text, width: null })
  expect(lines).toHaveLength(rows.length + 1)
})
