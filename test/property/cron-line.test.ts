import fc from 'fast-check'
import { createTask } from 'node-cron'
import { describe, expect, test } from 'vitest'
import { parseCronLine } from '../../src/schedule/cron-line.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const field = (min: number, max: number) => {
  const value = fc.integer({ min, max })
  const range = fc.tuple(value, value).map(([from, to]) => `${Math.min(from, to)}-${Math.max(from, to)}`)
  const step = fc.integer({ min: 1, max: max - min }).map((every) => `*/${every}`)
  const list = fc.uniqueArray(value, { minLength: 1, maxLength: 4 }).map((values) => values.join())
  return fc.oneof(fc.constant('*'), value.map(String), range, step, list)
}
const anyDayOfMonth = fc.oneof(
  { weight: 4, arbitrary: fc.constant('*') },
  { weight: 2, arbitrary: field(1, 28) },
  { weight: 1, arbitrary: fc.constantFrom('L', 'L-2', '15W', 'LW') },
)
const anyDayOfWeek = fc.oneof(
  { weight: 4, arbitrary: fc.constant('*') },
  { weight: 2, arbitrary: field(0, 6) },
  { weight: 1, arbitrary: fc.constantFrom('7', 'mon-fri', '5L', '0L') },
)
/** A line may have no moment, such as a working day that is a Sunday. */
const isPossible = (fields: string[]) => {
  const task = createTask(fields.join(' '), () => {})
  void task.destroy()
  try {
    return task.getNextRuns(1).length === 1
  } catch {
    return false
  }
}
const anyZone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe')

/** The minutes after `from`, up to `to`, that node-cron matches. */
function bruteForce(expression: string, timezone: string, from: number, to: number): number[] {
  const task = createTask(expression, () => {}, { timezone })
  void task.destroy()
  const minutes = Array.from({ length: (to - from) / MINUTE }, (_, index) => from + (index + 1) * MINUTE)
  return minutes.filter((moment) => task.match(new Date(moment)))
}

function walk(expression: string, timezone: string, from: number, to: number): number[] {
  const nextMoment = parseCronLine(expression, timezone)
  const moments: number[] = []
  for (let moment = nextMoment(from); moment !== null && moment <= to; moment = nextMoment(moment)) moments.push(moment)
  return moments
}

describe('the moments of a cron line', () => {
  test('the moments of a cron line are those that node-cron matches, on days without a clock change', () => {
    const anyLine = fc
      .tuple(field(0, 59), field(0, 23), anyDayOfMonth, fc.constant('*'), anyDayOfWeek)
      .filter(isPossible)
    const quietDay = fc
      .constantFrom('2026-01-30', '2026-02-27', '2026-06-14', '2026-12-30')
      .map((day) => Date.parse(day))
    fc.assert(
      fc.property(anyLine, anyZone, quietDay, (fields, zone, from) => {
        const line = fields.join(' ')
        expect(walk(line, zone, from, from + 3 * DAY)).toEqual(bruteForce(line, zone, from, from + 3 * DAY))
      }),
      { numRuns: 30 },
    )
  })

  test('the moments of an hourly cron line are those that node-cron matches, through any clock change', () => {
    const anyLine = fc
      .tuple(field(0, 59), fc.constant('*'), anyDayOfMonth, fc.constant('*'), anyDayOfWeek)
      .filter(isPossible)
    const change = fc.constantFrom(
      ['Europe/Berlin', '2026-03-28T12:00Z'],
      ['Europe/Berlin', '2026-10-24T12:00Z'],
      ['America/Santiago', '2026-04-04T12:00Z'],
      ['America/Santiago', '2026-09-05T12:00Z'],
      ['Australia/Lord_Howe', '2026-04-04T00:00Z'],
      ['Australia/Lord_Howe', '2026-10-03T00:00Z'],
    )
    fc.assert(
      fc.property(anyLine, change, (fields, [zone = '', start = '']) => {
        const [line, from] = [fields.join(' '), Date.parse(start)]
        expect(walk(line, zone, from, from + 2 * DAY)).toEqual(bruteForce(line, zone, from, from + 2 * DAY))
      }),
      { numRuns: 30 },
    )
  })

  test('a cron line that names hours has one moment per wall time, through any clock change', () => {
    const anyHours = fc.uniqueArray(fc.integer({ min: 0, max: 23 }), { minLength: 1, maxLength: 12 })
    const changes = [
      { zone: 'Europe/Berlin', from: '2026-03-28T22:59:59Z', to: '2026-03-29T21:59:59Z' },
      { zone: 'Europe/Berlin', from: '2026-10-24T21:59:59Z', to: '2026-10-25T22:59:59Z' },
    ]
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 59 }), anyHours, fc.constantFrom(...changes), (minute, hours, change) => {
        const line = `${minute} ${hours.join()} * * *`
        const [from, to] = [Date.parse(change.from), Date.parse(change.to)]
        const walked = walk(line, change.zone, from, to)
        // At minute 0, the moment of the jump is also the wall time of the next hour.
        const isMerged = from < Date.parse('2026-06-01') && minute === 0 && hours.includes(2) && hours.includes(3)
        expect(walked).toHaveLength(hours.length - (isMerged ? 1 : 0))
        const judged = bruteForce(
          line,
          change.zone,
          Math.floor(from / MINUTE) * MINUTE,
          Math.floor(to / MINUTE) * MINUTE,
        )
        const extra = walked.filter((moment) => !judged.includes(moment))
        expect(extra.every((moment) => moment === Date.parse('2026-03-29T01:00Z'))).toBe(true)
      }),
      { numRuns: 40 },
    )
  })

  test('the moments of a cron line rise, wherever between two of them one asks', () => {
    const anyLine = fc
      .tuple(field(0, 59), field(0, 23), anyDayOfMonth, fc.constant('*'), anyDayOfWeek)
      .filter(isPossible)
    const anyMoment = fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2027, 0) })
    fc.assert(
      fc.property(
        anyLine,
        anyZone,
        anyMoment,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (fields, zone, after, share) => {
          const nextMoment = parseCronLine(fields.join(' '), zone)
          const next = nextMoment(after)
          if (next === null) throw new Error('this line has moments')
          expect(next).toBeGreaterThan(after)
          const between = Math.min(after + Math.floor((next - after) * share), next - 1)
          expect(nextMoment(between)).toBe(next)
        },
      ),
      { numRuns: 100 },
    )
  })
})
