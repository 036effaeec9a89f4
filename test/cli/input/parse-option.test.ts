import { expect, test } from 'vitest'
import { parseSince } from '../../../src/cli/input/parse-option.ts'

const NOW = Date.UTC(2026, 5, 2)
const HOUR = 3_600_000

test('a duration before now is read before the clock is known that it goes by', () => {
  const [since, until] = [parseSince('1h'), parseSince('2026-06-01T12:00Z')]
  const noon = Date.UTC(2026, 5, 1, 12)
  expect([since(NOW), since(NOW + 9 * HOUR), until(NOW)]).toEqual([NOW - HOUR, NOW + 8 * HOUR, noon])
})

test.each(['', '1', 'yesterday', '2026-13-40'])('"%s" is no moment', (text) => {
  expect(() => parseSince(text)).toThrow('Give a duration before now')
})
