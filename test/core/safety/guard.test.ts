import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  bucketOf,
  DEFAULT_GUARD,
  describeLimit,
  findFull,
  firstBucket,
  type Limit,
  nextRoomAt,
  parseShare,
  parseSize,
  planLimits,
  WINDOWS,
} from '../../../src/core/safety/guard.ts'

const SOURCE = { runId: 'run_1', workflow: 'tidy', account: 'default', storage: 'storage_a' }
const listed = (count: number) => [{ folder: '/', listed: count }]
const LIMIT: Limit = { scope: 'all', what: 'deletes', window: 'hour', most: 10, setting: 'guard.all', over: 'approve' }

describe('limits', () => {
  test('the defaults bound a workflow by run, share, hour and day, and the rest by hour and day', () => {
    const planned = planLimits(DEFAULT_GUARD, undefined, { source: SOURCE, effect: 'delete', listed: listed(200) })
    expect(planned.map(({ scope, window, most, setting }) => [scope, window, most, setting])).toEqual([
      ['run/run_1', 'run', 20, 'guard.workflow.deletes.perRun'],
      ['workflow/tidy', 'hour', 100, 'guard.workflow.deletes.perHour'],
      ['workflow/tidy', 'day', 300, 'guard.workflow.deletes.perDay'],
      ['run/run_1/storage_a', 'run', 20, 'guard.workflow.deletes.share'],
      ['storage/default/storage_a', 'hour', 200, 'guard.storage.deletes.perHour'],
      ['storage/default/storage_a', 'day', 500, 'guard.storage.deletes.perDay'],
      ['account/default', 'hour', 300, 'guard.account.deletes.perHour'],
      ['account/default', 'day', 1_000, 'guard.account.deletes.perDay'],
      ['all', 'hour', 300, 'guard.all.deletes.perHour'],
      ['all', 'day', 1_000, 'guard.all.deletes.perDay'],
    ])
  })

  test("a workflow's own guard replaces that of workflows, and lifts no other limit", () => {
    const own = { deletes: { perRun: 5_000 } }
    const planned = planLimits(DEFAULT_GUARD, own, { source: SOURCE, effect: 'delete', listed: listed(200) })
    expect(planned[0]).toMatchObject({ most: 5_000, setting: 'guard of tidy.deletes.perRun' })
    expect(planned.map(({ scope }) => scope)).toContain('all')
    expect(planned.filter(({ scope }) => scope === 'workflow/tidy')).toEqual([])
  })

  test.each([
    [0, []],
    [19, []],
    [20, [2]],
    [200, [20]],
  ])('a share of %s listed files counts from shareFrom on', (count, expected) => {
    const planned = planLimits(DEFAULT_GUARD, undefined, { source: SOURCE, effect: 'delete', listed: listed(count) })
    expect(planned.filter(({ setting }) => setting.endsWith('.share')).map(({ most }) => most)).toEqual(expected)
  })

  test('a share of whole files is that many, whatever floating point makes of it', () => {
    const own = { deletes: { share: parseShare('29%') } }
    const planned = planLimits(DEFAULT_GUARD, own, { source: SOURCE, effect: 'delete', listed: listed(100) })
    expect(planned[0]).toMatchObject({ most: 29, setting: 'guard of tidy.deletes.share' })
  })

  test('deletes and bytes are limited for a delete, writes for a write', () => {
    const guard = { ...DEFAULT_GUARD, all: { deletes: { perHour: 1 }, bytes: { perDay: 2 }, writes: { perHour: 3 } } }
    const limitsOf = (effect: 'delete' | 'write') =>
      planLimits(guard, {}, { source: { ...SOURCE, storage: null }, effect, listed: [] })
        .filter(({ scope }) => scope === 'all')
        .map(({ what, most }) => [what, most])
    expect(limitsOf('delete')).toEqual([
      ['deletes', 1],
      ['bytes', 2],
    ])
    expect(limitsOf('write')).toEqual([['writes', 3]])
  })

  test('an effect that fills a limit exactly has room, and one more has none', () => {
    expect(findFull([LIMIT], { count: 1, bytes: 0 }, () => 9)).toBeNull()
    expect(findFull([LIMIT], { count: 1, bytes: 0 }, () => 10)).toBe(LIMIT)
    expect(findFull([LIMIT], { count: 2, bytes: 0 }, () => 9)).toBe(LIMIT)
    const bytes = { ...LIMIT, what: 'bytes' as const }
    expect(findFull([bytes], { count: 1, bytes: 11 }, () => 0)).toBe(bytes)
    expect(findFull([bytes], { count: 100, bytes: 10 }, () => 0)).toBeNull()
  })

  test('a hold names the setting that was too small', () => {
    expect(describeLimit(LIMIT)).toBe('over the limit of 10 deletes of all workflows an hour (guard.all)')
  })
})

describe('windows', () => {
  test('every moment of the last hour and day counts, and so does the future', () => {
    const moment = fc.integer({ min: 1e12, max: 2e12 })
    fc.assert(
      fc.property(moment, fc.constantFrom('hour' as const, 'day' as const), fc.nat(), (now, window, back) => {
        const { ms, bucketMs } = WINDOWS[window]
        const age = back % ms
        expect(bucketOf(window, now - age)).toBeGreaterThanOrEqual(firstBucket(window, now))
        expect(bucketOf(window, now + age)).toBeGreaterThanOrEqual(firstBucket(window, now))
        // Nothing counts longer than one bucket beyond the window.
        expect(bucketOf(window, now - ms - bucketMs)).toBeLessThan(firstBucket(window, now))
      }),
    )
  })

  test('the next room is when the oldest bucket that counts has left the window', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1e12, max: 2e12 }),
        fc.constantFrom('hour' as const, 'day' as const),
        (now, window) => {
          const at = nextRoomAt(window, now)
          expect(at).toBeGreaterThan(now)
          expect(firstBucket(window, at)).toBe(firstBucket(window, now) + 1)
        },
      ),
    )
  })
})

describe('sizes and shares', () => {
  test('a size is bytes, or text with a unit', () => {
    expect(['50 GB', '1.5MB', '7 B', 12].map(parseSize)).toEqual([50e9, 1.5e6, 7, 12])
    for (const wrong of ['50', '5 gb', '-1 MB', '', Number.NaN, -1])
      expect(() => parseSize(wrong)).toThrow('is not a size')
  })

  test('a share is text with a percent sign, so that nobody takes a count for a share', () => {
    expect(['10%', '0.5%', '100%'].map(parseShare)).toEqual([0.1, 0.005, 1])
    for (const wrong of ['10', '0.1', '101%', '%']) expect(() => parseShare(wrong)).toThrow('is not a share')
  })
})
