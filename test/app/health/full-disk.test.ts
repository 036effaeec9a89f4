import { expect, test } from 'vitest'
import { REFUSED_FOR_MS, watchDisk } from '../../../src/app/open-parts.ts'
import type { NoticeOf } from '../../../src/core/notices.ts'
import { ManualClock } from '../../../src/core/time.ts'
import { createNoticeBus } from '../../../src/notices/notice-bus.ts'
import { NOTICES } from '../../notices/support/notices.ts'

const RECEIVED = NOTICES['delivery.received'] as NoticeOf<'delivery.received'>

test('a delivery without room on the disk is told for half a minute, and other refusals are not', () => {
  const clock = new ManualClock(1_000_000)
  const notices = createNoticeBus()
  const requireDisk = watchDisk({ notices, clock })
  const refuse = (reason: string) => notices.publish({ ...RECEIVED, verdict: 'unavailable', facts: { reason } })
  refuse('database_timeout')
  expect(requireDisk).not.toThrow()
  refuse('database_full')
  clock.advance(REFUSED_FOR_MS - 1)
  expect(requireDisk).toThrow('the disk of the database is full: a delivery of 30 s ago could not be saved')
  refuse('database_full')
  clock.advance(1)
  expect(requireDisk).toThrow('of 1 s ago')
  clock.advance(REFUSED_FOR_MS)
  expect(requireDisk).not.toThrow()
  refuse('database_full')
  clock.set(1_000_000)
  expect(requireDisk).not.toThrow()
})

test.each(['unwritable', 'unreadable', 'corrupt'])('so is one that a disk refuses as %s', (reason) => {
  const clock = new ManualClock(1_000_000)
  const notices = createNoticeBus()
  const requireDisk = watchDisk({ notices, clock })
  notices.publish({ ...RECEIVED, verdict: 'unavailable', facts: { reason: `database_${reason}` } })
  expect(requireDisk).toThrow('of 0 s ago')
  clock.advance(REFUSED_FOR_MS)
  expect(requireDisk).not.toThrow()
})
