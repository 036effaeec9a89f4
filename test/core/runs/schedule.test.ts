import { describe, expect, it } from 'vitest'
import { decideDue, type Schedule } from '../../../src/core/runs/schedule.ts'
import { type Duration, parseDuration } from '../../../src/core/time.ts'
import { finishSlices } from '../../support/finish-slices.ts'

const HOUR = 3_600_000
const hourly = (after: number) => (Math.floor(after / HOUR) + 1) * HOUR
const NEVER = () => null

const due = (
  { catchUp, within = '24h' }: { catchUp: Schedule['catchUp']; within?: Duration },
  lastAt: number,
  now: number,
  nextMoment: (after: number) => number | null = hourly,
) => {
  const withinMs = parseDuration(within)
  const schedule = { expression: '0 * * * *', timezone: 'UTC', catchUp, withinMs, overlap: 'queue' } as const
  return finishSlices(decideDue(schedule, { lastAt, now, nextMoment })).ticks
}

describe('decideDue', () => {
  it.each(['latest', 'all', 'skip'] as const)('a moment that has just come is due with catchUp %s', (catchUp) => {
    expect(due({ catchUp }, 10 * HOUR, 11 * HOUR + 5)).toEqual([{ scheduledFor: 11 * HOUR, missed: 0 }])
  })

  it.each(['latest', 'all', 'skip'] as const)('nothing is due before the next moment with catchUp %s', (catchUp) => {
    expect(due({ catchUp }, 10 * HOUR, 11 * HOUR - 1)).toEqual([])
    expect(due({ catchUp }, 10 * HOUR, 9 * HOUR)).toEqual([])
    expect(due({ catchUp }, 10 * HOUR, 99 * HOUR, NEVER)).toEqual([])
  })

  it('catchUp skip makes no tick for missed moments, but the next tick counts them', () => {
    expect(due({ catchUp: 'skip' }, 10 * HOUR, 13 * HOUR + 60_000)).toEqual([])
    expect(due({ catchUp: 'skip' }, 10 * HOUR, 14 * HOUR)).toEqual([{ scheduledFor: 14 * HOUR, missed: 3 }])
  })

  it.each(['latest', 'all'] as const)(
    'a moment noticed a little late is on time, without a window and with catchUp %s',
    (catchUp) => {
      expect(due({ catchUp, within: 0 }, 10 * HOUR, 11 * HOUR + 500)).toEqual([{ scheduledFor: 11 * HOUR, missed: 0 }])
      expect(due({ catchUp, within: 0 }, 10 * HOUR, 11 * HOUR + 60_000)).toEqual([])
    },
  )

  it('missed moments of a long absence are counted up to a bound', () => {
    const minutely = (after: number) => (Math.floor(after / 60_000) + 1) * 60_000
    const [tick] = due({ catchUp: 'latest', within: '1m' }, 0, 365 * 24 * HOUR, minutely)
    expect(tick?.missed).toBe(10_001)
  })
})

it('the moments of a long absence are counted in slices of at most 2,000', () => {
  const schedule = {
    expression: '',
    timezone: 'UTC',
    catchUp: 'latest',
    withinMs: 86_400_000,
    overlap: 'queue',
  } as const
  let [calls, longest] = [0, 0]
  const nextMoment = (after: number) => {
    calls += 1
    return (Math.floor(after / 1_000) + 1) * 1_000
  }
  const slices = decideDue(schedule, { lastAt: 0, now: 5 * 86_400_000, nextMoment })
  for (let { done, value } = slices.next(); ; { done, value } = slices.next()) {
    longest = Math.max(longest, calls)
    calls = 0
    if (!done) continue
    expect(value).toEqual({ ticks: [{ scheduledFor: 5 * 86_400_000, missed: 96_400 }], missed: 96_400 })
    break
  }
  expect(longest).toBeLessThanOrEqual(2_000)
})
