import { expect, test } from 'vitest'
import { type PLAN_LIMITS, RateLimiter } from '../../../src/sandbox/account/rate-limiter.ts'

/** The number of calls allowed at one moment. */
function countAllowed(limiter: RateLimiter, plan: keyof typeof PLAN_LIMITS, now: number): number {
  let allowed = 0
  while (limiter.take('key', plan, now)?.allowed) allowed++
  return allowed
}

test('the rate limiter allows a call at the announced moment and not before', () => {
  const limiter = new RateLimiter()
  countAllowed(limiter, 'pro', 1_000)
  const resetAt = limiter.take('key', 'pro', 1_000)?.resetAt ?? 0
  expect(resetAt).toBe(1_200)
  expect(limiter.take('key', 'pro', resetAt - 1)?.allowed).toBe(false)
  expect(limiter.take('key', 'pro', resetAt)?.allowed).toBe(true)
})

test('a clock that goes back neither adds nor removes allowance', () => {
  const limiter = new RateLimiter()
  countAllowed(limiter, 'free', 60_000)
  expect(limiter.take('key', 'free', 0)?.allowed).toBe(false)
  expect(limiter.take('key', 'free', 1_000)?.allowed).toBe(true)
})

test('the rate limiter remembers a bounded number of keys', () => {
  const limiter = new RateLimiter()
  countAllowed(limiter, 'free', 0)
  for (let n = 0; n < 10_000; n++) limiter.take(`other ${n}`, 'free', 0)
  expect(limiter.take('key', 'free', 0)?.remaining).toBe(99)
})
