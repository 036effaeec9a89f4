import { expect, test } from 'vitest'
import { FULL_FOR_MS, watchFullDisk } from '../../../src/app/open-parts.ts'
import type { NoticeOf } from '../../../src/core/notices.ts'
import { ManualClock } from '../../../src/core/time.ts'
import { createNoticeBus } from '../../../src/notices/notice-bus.ts'
import { NOTICES } from '../../notices/support/notices.ts'

const RECEIVED = NOTICES['delivery.received'] as NoticeOf<'delivery.received'>

test('a delivery without room on the disk is told for half a minute, and other refusals are not', () => {
  const clock = new ManualClock(1_000_000)
  const notices = createNoticeBus()
  const requireRoom = watchFullDisk({ notices, clock })
  const refuse = (reason: string) => notices.publish({ ...RECEIVED, verdict: 'unavailable', facts: { reason } })
  refuse('database_timeout')
  expect(requireRoom).not.toThrow()
  refuse('database_full')
  clock.advance(FULL_FOR_MS - 1)
  expect(requireRoom).toThrow('the disk of the database is full: a delivery found no room 30 s ago')
  refuse('database_full')
  clock.advance(1)
  expect(requireRoom).toThrow('1 s ago')
  clock.advance(FULL_FOR_MS)
  expect(requireRoom).not.toThrow()
  refuse('database_full')
  clock.set(1_000_000)
  expect(requireRoom).not.toThrow()
})
