import { expect, test } from 'vitest'
import { addressKey, TokenBuckets } from '../../../src/receive/limits/token-buckets.ts'

test('a token bucket gives its burst, then one token at a time, and says how long the next one takes', () => {
  const buckets = new TokenBuckets({ perSecond: 2, burst: 3 })
  expect([0, 0, 0, 0].map(() => buckets.take('a', 1_000))).toEqual([0, 0, 0, 500])
  expect(buckets.take('b', 1_000)).toBe(0)
  expect([buckets.take('a', 1_250), buckets.take('a', 1_500), buckets.take('a', 1_500)]).toEqual([250, 0, 500])
  expect([0, 0, 0, 0].map(() => buckets.take('a', 90_000))).toEqual([0, 0, 0, 500])
})

test('a token bucket loses no tokens when the clock is set back', () => {
  const buckets = new TokenBuckets({ perSecond: 1, burst: 2 })
  buckets.take('a', 10_000)
  expect([buckets.take('a', 0), buckets.take('a', 0), buckets.take('a', 1_000)]).toEqual([0, 1_000, 0])
})

test('token buckets keep a bounded number of keys and evict those first that have long been quiet', () => {
  const buckets = new TokenBuckets({ perSecond: 1, burst: 1 }, 100)
  buckets.take('loud', 0)
  for (let n = 0; n < 5_000; n++) {
    buckets.take(`address ${n}`, n * 10)
    if (n === 40) buckets.take('loud', n * 10)
  }
  expect(buckets.size).toBe(100)
  const busy = new TokenBuckets({ perSecond: 1, burst: 1 }, 3)
  for (const key of ['quiet', 'loud', 'late']) busy.take(key, key === 'quiet' ? 0 : 5_000)
  busy.take('new', 5_000)
  expect(busy.take('loud', 5_000)).toBeGreaterThan(0)
})

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '::ffff:192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::9', '2001:db8:1:2'],
  ['2001:db8::9', '2001:db8:0:0'],
  ['2001:db8::1:2:3:4:5', '2001:db8:0:1'],
  ['::1', '0:0:0:0'],
  ['fe80::1:2:3:4', 'fe80:0:0:0'],
  [undefined, ''],
])('the address %s counts as %s', (address, key) => {
  expect(addressKey(address)).toBe(key)
})
