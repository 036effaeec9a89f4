import { describe, expect, it } from 'vitest'
import { cron, type ScheduleOptions } from '../../../src/author/cron.ts'
import { decideDue } from '../../../src/core/runs/schedule.ts'

const HOUR = 3_600_000
const hourly = (after: number) => (Math.floor(after / HOUR) + 1) * HOUR
const NEVER = () => null

const due = (
  options: ScheduleOptions,
  lastAt: number,
  now: number,
  nextMoment: (after: number) => number | null = hourly,
) => decideDue(cron('0 * * * *', options), { lastAt, now, nextMoment })

describe('cron', () => {
  it('has defaults', () => {
    expect(cron('0 3 * * *')).toEqual({
      kind: 'cron',
      expression: '0 3 * * *',
      timezone: 'UTC',
      catchUp: 'latest',
      overlap: 'queue',
      withinMs: 24 * HOUR,
    })
  })

  it('refuses a window that is no duration', () => {
    expect(() => cron('0 3 * * *', { within: 'long' })).toThrow(/is not a duration/)
  })
})

describe('decideDue', () => {
  it.each(['latest', 'all', 'skip'] as const)('runs a moment that has just come, with catchUp %s', (catchUp) => {
    expect(due({ catchUp }, 10 * HOUR, 11 * HOUR + 5)).toEqual([{ scheduledFor: 11 * HOUR, missed: 0 }])
  })

  it.each(['latest', 'all', 'skip'] as const)('runs nothing before the moment, with catchUp %s', (catchUp) => {
    expect(due({ catchUp }, 10 * HOUR, 11 * HOUR - 1)).toEqual([])
    expect(due({ catchUp }, 10 * HOUR, 9 * HOUR)).toEqual([])
    expect(due({ catchUp }, 10 * HOUR, 99 * HOUR, NEVER)).toEqual([])
  })

  it('makes one run of all that was missed', () => {
    expect(due({ catchUp: 'latest' }, 10 * HOUR, 14 * HOUR + 1)).toEqual([{ scheduledFor: 14 * HOUR, missed: 3 }])
  })

  it('makes a run of each that was missed', () => {
    expect(due({ catchUp: 'all' }, 10 * HOUR, 13 * HOUR)).toEqual(
      [11, 12, 13].map((hour) => ({ scheduledFor: hour * HOUR, missed: 0 })),
    )
  })

  it('makes no run of what was missed, but counts it for the next on time', () => {
    expect(due({ catchUp: 'skip' }, 10 * HOUR, 13 * HOUR + 60_000)).toEqual([])
    expect(due({ catchUp: 'skip' }, 10 * HOUR, 14 * HOUR)).toEqual([{ scheduledFor: 14 * HOUR, missed: 3 }])
  })

  it('only counts what was missed before the window', () => {
    expect(due({ catchUp: 'all', within: '2h' }, 0, 10 * HOUR)).toEqual([
      { scheduledFor: 8 * HOUR, missed: 7 },
      { scheduledFor: 9 * HOUR, missed: 0 },
      { scheduledFor: 10 * HOUR, missed: 0 },
    ])
    expect(due({ catchUp: 'latest', within: '2h' }, 0, 10 * HOUR)).toEqual([{ scheduledFor: 10 * HOUR, missed: 9 }])
    expect(due({ catchUp: 'latest', within: '10m' }, 0, 10 * HOUR + 20 * 60_000)).toEqual([])
  })

  it.each(['latest', 'all'] as const)(
    'takes a moment noticed a little late for on time, with no window and %s',
    (catchUp) => {
      expect(due({ catchUp, within: 0 }, 10 * HOUR, 11 * HOUR + 500)).toEqual([{ scheduledFor: 11 * HOUR, missed: 0 }])
      expect(due({ catchUp, within: 0 }, 10 * HOUR, 11 * HOUR + 60_000)).toEqual([])
    },
  )

  it('counts a long absence up to a bound', () => {
    const minutely = (after: number) => (Math.floor(after / 60_000) + 1) * 60_000
    const [tick] = due({ catchUp: 'latest', within: '1m' }, 0, 365 * 24 * HOUR, minutely)
    expect(tick?.missed).toBe(10_001)
  })
})
