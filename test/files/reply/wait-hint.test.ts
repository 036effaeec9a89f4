import { expect, test } from 'vitest'
import { parseCount, parseRetryAfter, parseThrottleWait } from '../../../src/files/reply/wait-hint.ts'

const NOW = Date.UTC(2026, 4, 1, 12, 0, 0)
const httpDate = (offsetMs: number) => new Date(NOW + offsetMs).toUTCString()
const seconds = (offsetMs: number) => String((NOW + offsetMs) / 1000)

test.each([
  ['0', 0],
  ['60', 60_000],
  ['61', 61_000],
  ['1.5', 1_500],
  [' 7 ', 7_000],
  ['5, 90', 90_000],
  [httpDate(30_000), 30_000],
  [httpDate(-30_000), 0],
  ['soon', null],
  ['-5', null],
  ['', null],
  ['99999999999', null],
  ['2026', 2_026_000],
])('a Retry-After of %j is a wait of %j ms', (value, waitMs) => {
  expect(parseRetryAfter(new Headers({ 'retry-after': value }), NOW)).toBe(waitMs)
})

test('a Retry-After date is compared with the server’s own clock', () => {
  const server = NOW + 300_000
  const headers = new Headers({
    'retry-after': new Date(server + 20_000).toUTCString(),
    date: new Date(server).toUTCString(),
  })
  expect(parseRetryAfter(headers, NOW)).toBe(20_000)
})

test.each([
  ['epoch seconds', seconds(40_000), 41_000],
  ['epoch milliseconds', String(NOW + 40_000), 41_000],
  ['seconds from now', '40', 41_000],
  ['a moment just gone by on the server’s clock', seconds(-2_000), 1_000],
  ['nonsense', 'never', 60_000],
  ['a negative number', '-40', 60_000],
  ['a moment in ten years', String(NOW + 3.2e11), 60_000],
])('a 429 with %s as reset (%s) is a wait of %d ms', (_name, reset, waitMs) => {
  expect(parseThrottleWait(new Headers({ 'x-ratelimit-reset': reset, date: httpDate(0) }), NOW)).toBe(waitMs)
})

test.each([-300_000, 300_000])('a 429 with a reset is the same wait when our clock is %d ms off', (offMs) => {
  const headers = new Headers({ 'x-ratelimit-reset': seconds(40_000), date: httpDate(0) })
  expect(parseThrottleWait(headers, NOW + offMs)).toBe(41_000)
})

test('a 429 with a past reset and no clock of the server is a wait of a whole window', () => {
  expect(parseThrottleWait(new Headers({ 'x-ratelimit-reset': seconds(-300_000) }), NOW)).toBe(60_000)
})

test('a 429 without any header is a wait of a whole window', () => {
  expect(parseThrottleWait(new Headers(), NOW)).toBe(60_000)
})

test('a 429 with contradicting headers is the wait of its Retry-After', () => {
  const headers = new Headers({ 'retry-after': '10', 'x-ratelimit-reset': seconds(45_000), date: httpDate(0) })
  expect(parseThrottleWait(headers, NOW)).toBe(10_000)
})

test('a 429 with an unreadable Retry-After is the wait of its reset', () => {
  const headers = new Headers({ 'retry-after': 'later', 'x-ratelimit-reset': seconds(45_000), date: httpDate(0) })
  expect(parseThrottleWait(headers, NOW)).toBe(46_000)
})

test('a count is a whole number or nothing', () => {
  const headers = new Headers({ a: '60', b: '60;w=60', c: '-1', d: '99999999999' })
  expect(['a', 'b', 'c', 'd', 'e'].map((name) => parseCount(headers, name))).toEqual([60, null, null, null, null])
})
