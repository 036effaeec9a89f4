import { expect, test } from 'vitest'
import { readMoment } from '../../../src/admin/queries/read-query.ts'

const NOW = Date.UTC(2026, 5, 1, 12)

test('a moment that does not exist is refused, and is not a search that finds nothing', () => {
  expect(readMoment(undefined, NOW)).toBeUndefined()
  expect(readMoment('2h', NOW)).toBe(NOW - 7_200_000)
  expect(readMoment('2026-06-01T10:00+02:00', NOW)).toBe(Date.UTC(2026, 5, 1, 8))
  for (const text of ['2026-13-45', '2026-02-30', '2026-06-01T25:00Z', '2026-06-01 10h']) {
    expect(() => readMoment(text, NOW)).toThrow(`"${text}" is no moment.`)
  }
})
