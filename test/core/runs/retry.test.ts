import { describe, expect, it } from 'vitest'
import { StepError, TerminalError, UpshotError } from '../../../src/core/errors.ts'
import { decideRetry, planRetries, RetryAfter, RetryAt } from '../../../src/core/runs/retry.ts'

const POLICY = { attempts: 3, minMs: 1_000, maxMs: 3_000 }
const decide = (error: unknown, part: Partial<Parameters<typeof decideRetry>[0]> = {}) =>
  decideRetry({ error, attempt: 1, policy: POLICY, now: 10_000, random: 0.5, ...part })

describe('planRetries', () => {
  it('planRetries fills in the defaults', () =>
    expect(planRetries()).toEqual({ attempts: 4, minMs: 1_000, maxMs: 300_000 }))

  it('planRetries takes each option of the step before that of its workflow', () => {
    expect(planRetries({ attempts: 2 }, undefined, { attempts: 9, min: '2s', max: '1m' })).toEqual({
      attempts: 2,
      minMs: 2_000,
      maxMs: 60_000,
    })
  })

  it('planRetries takes an option that is undefined for one that is left out', () => {
    const loose = { attempts: undefined, min: '1s' } as never
    expect(planRetries(loose, { attempts: 1, min: '2s' })).toMatchObject({ attempts: 1, minMs: 1_000 })
  })
})

describe('decideRetry', () => {
  it.each([
    ['a TerminalError', new TerminalError('no')],
    ['a StepError', new StepError('pay', 1, { name: 'Error', message: 'no' })],
    ['an error of ours that no second try can change', new UpshotError('not_found', 'no')],
    ["a client's error that says so", Object.assign(new Error(), { retryable: false })],
    ['one that says so and names a moment', Object.assign(new Error(), { retryable: false, retryAt: 99_999 })],
  ])('decideRetry gives up at once after %s', (_, error) => expect(decide(error)).toEqual({ kind: 'give_up' }))

  it.each([
    ['a RetryAt', new RetryAt(99_999)],
    ["a client's error with a moment", Object.assign(new Error(), { retryAt: 99_999, retryable: true })],
  ])('decideRetry waits as long as %s says, and counts no attempt', (_, error) => {
    expect(decide(error, { attempt: 100 })).toEqual({ kind: 'retry', at: 99_999, counts: false })
  })

  it.each([
    ['has passed', new RetryAt(9_999)],
    ['is now', new RetryAt(10_000)],
    ['is not a date', Object.assign(new Error('later'), { retryAt: Number.NaN })],
    ['never comes', Object.assign(new Error('later'), { retryAt: 9e15 })],
  ])('decideRetry counts the attempt when the moment named %s', (_, error) => {
    expect(decide(error)).toEqual({ kind: 'retry', at: 10_500, counts: true })
    expect(decide(error, { attempt: 3 })).toEqual({ kind: 'give_up' })
  })

  it('decideRetry waits as long as a RetryAfter says, and counts no attempt', () => {
    expect(decide(new RetryAfter('30s'), { attempt: 100 })).toEqual({ kind: 'retry', at: 40_000, counts: false })
    expect(decide(new RetryAfter(0), { attempt: 3 })).toEqual({ kind: 'give_up' })
    // @ts-expect-error: this is no duration.
    expect(() => new RetryAfter('soon')).toThrow(/^RetryAfter: "soon" is not a duration/)
  })

  it('RetryAfter and RetryAt round up to whole milliseconds', () => {
    expect(new RetryAfter(100_000 / 3).durationMs).toBe(33_334)
    expect(new RetryAt(10_000.2).moment).toBe(10_001)
    expect(decide(Object.assign(new Error('later'), { retryAt: 20_000.5 }))).toMatchObject({ at: 20_001 })
  })

  it.each([new Date('nonsense'), Number.NaN, Number.POSITIVE_INFINITY, 8.7e15])(
    'RetryAt refuses the moment %s',
    (moment) => expect(() => new RetryAt(moment)).toThrow(/^RetryAt: .* is not a moment/),
  )

  it.each([Number.NaN, 0, 1.5, -1, Number.POSITIVE_INFINITY])('planRetries refuses %d attempts', (attempts) =>
    expect(() => planRetries({ attempts })).toThrow(/^retry.attempts: .* is not a whole number/),
  )

  it('planRetries names the option whose duration is not valid', () => {
    expect(() => planRetries({ min: Number.NaN })).toThrow(/^retry.min: "NaN" is not a duration/)
    expect(() => planRetries({ max: 9e15 })).toThrow(/^retry.max: .* is too long/)
  })

  it.each([['text'], [undefined], [null], [{ retryable: false }]])(
    'decideRetry tries again after %j was thrown',
    (thrown) => expect(decide(thrown)).toMatchObject({ kind: 'retry' }),
  )
})
