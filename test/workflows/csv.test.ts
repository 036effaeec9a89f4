import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseCsv, toCsv } from '../../workflows/csv.ts'

test.each([
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\r\nlines', '"two\r\nlines"'],
  ['=1+1', "'=1+1"],
  ['+49', "'+49"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', `"'\t=1"`],
  [' =1', "' =1"],
  ['＝1', "'＝1"],
  ['=cmd|"/c calc"!A1,x', `"'=cmd|""/c calc""!A1,x"`],
  ["'quoted", "''quoted"],
  [-1, '-1'],
  [null, ''],
])('toCsv writes %j as %s', (value, written) => expect(toCsv([[value, 'end']])).toBe(`${written},end\r\n`))

test('parseCsv reads any text that toCsv wrote', () => {
  const cell = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'=+-@\'",;\r\n\t a＝') }))
  const rows = fc.array(fc.array(cell, { minLength: 1, maxLength: 5 }), { maxLength: 5 })
  fc.assert(
    fc.property(rows, (given) => {
      expect(parseCsv(toCsv(given))).toEqual(given)
    }),
  )
})

test('toCsv begins no cell with a character that a spreadsheet reads as a formula', () => {
  const text = fc.string({ unit: fc.constantFrom(...'=+-@",;\r\n\tx'), minLength: 1 })
  fc.assert(
    fc.property(text, (given) => {
      expect(toCsv([[given]])).not.toMatch(/^"?[=+\-@\s]/)
    }),
  )
})
