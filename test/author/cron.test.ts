import { expect, it } from 'vitest'
import { cron } from '../../src/author/cron.ts'

it('cron fills in the defaults', () => {
  expect(cron('0 3 * * *')).toEqual({
    kind: 'cron',
    expression: '0 3 * * *',
    timezone: 'UTC',
    catchUp: 'latest',
    overlap: 'queue',
    accounts: ['default'],
    withinMs: 86_400_000,
  })
})

it('cron refuses a window that is not a duration', () => {
  // @ts-expect-error: this is no duration.
  expect(() => cron('0 3 * * *', { within: 'long' })).toThrow(/^within: "long" is not a duration/)
  expect(() => cron('0 3 * * *', { within: '367d' })).toThrow(/^within: "367d" is too long\. .* at most 366 days/)
  expect(cron('0 3 * * *', { within: '366d' }).withinMs).toBe(366 * 86_400_000)
  expect(() => cron('0 3 * * *', { within: Number.NaN })).toThrow(/^within: "NaN" is not a duration/)
})

it('cron rounds its window up to whole milliseconds', () => {
  expect(cron('0 3 * * *', { within: 100_000 / 3 }).withinMs).toBe(33_334)
})
