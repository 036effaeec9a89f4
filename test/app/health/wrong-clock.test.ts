import { expect, test } from 'vitest'
import { createHealth } from '../../../src/admin/ports/health.ts'
import { CLOCK_WARNED_MS, watchClock } from '../../../src/app/open-parts.ts'
import type { NoticeOf } from '../../../src/core/notices.ts'
import { ManualClock } from '../../../src/core/time.ts'
import { createNoticeBus } from '../../../src/notices/notice-bus.ts'
import { NOTICES } from '../../notices/support/notices.ts'

const RECEIVED = NOTICES['delivery.received'] as NoticeOf<'delivery.received'>

test('a process is ready and warns where signed deliveries do not fit its clock, until one does', async () => {
  const clock = new ManualClock(1_000_000)
  const notices = createNoticeBus()
  const health = createHealth({}, { warnings: watchClock({ notices, clock }) })
  const receive = (verdict: 'accepted' | 'unavailable' | 'stale' | 'bad_signature', skewSeconds: number) =>
    notices.publish({ ...RECEIVED, verdict, facts: { skewSeconds } })
  const warnings = async () => (await health.check()).warnings
  receive('bad_signature', 900)
  receive('accepted', 12)
  expect(await warnings()).toEqual([])
  receive('unavailable', -3_600)
  expect(await health.check()).toEqual({
    ready: true,
    checks: {},
    warnings: [expect.stringContaining('refused 0 s ago: by its timestamp, this clock is 3600 s behind.')],
  })
  receive('stale', 900)
  clock.advance(CLOCK_WARNED_MS - 1)
  expect(await warnings()).toEqual([
    expect.stringContaining('refused 600 s ago: by its timestamp, this clock is 900 s ahead.'),
  ])
  clock.advance(1)
  expect(await warnings()).toEqual([])
  receive('stale', 900)
  receive('accepted', 12)
  expect(await warnings()).toEqual([])
})
