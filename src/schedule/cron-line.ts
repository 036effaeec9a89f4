import { createTask, type ParsedFields, validateDetailed } from 'node-cron'
import { UpshotError } from '../core/errors.ts'
import type { NextMoment } from '../core/runs/schedule.ts'
import { openZone, type Zone } from './zone.ts'

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** The calendar's longest pause, of a 29 February that is to be a given weekday, is 40 years. */
const LOOK_AHEAD_DAYS = 41 * 366

/**
 * Reads a cron line for a time zone and gives the function that finds its next moment; throws
 * `invalid_workflow` that names the field at fault and what it takes. Day-of-month and day-of-week
 * must both match.
 *
 * Where clocks change, a line that names hours runs once for each wall time that it names: a time
 * that clocks jump over runs at the moment of the jump (node-cron skips it, and a nightly job with
 * it), one that they show twice runs the first time. A line for every hour follows elapsed time: it
 * runs in both hours of the same name, and nothing is made up for an hour that does not exist.
 */
export function parseCronLine(expression: string, timezone: string): NextMoment {
  const fields = parseFields(expression)
  const zone = openZone(timezone)
  const calendar = openCalendar(fields)
  if (calendar.nextWall(Date.UTC(2000, 0, 1)) === null) {
    throw new UpshotError('invalid_workflow', `No day ever fits the cron line "${expression}".`)
  }
  const isEveryHour = new Set(fields.hour).size === 24
  return isEveryHour
    ? (after) => nextByElapsedTime(zone, calendar, after)
    : (after) => nextByWallTime(zone, calendar, after)
}

/** Moments of wall times never go backwards, so the first one that lies ahead is the next. */
function nextByWallTime(zone: Zone, { nextWall }: Calendar, after: number): number | null {
  for (let wall = nextWall(zone.wallAt(after)); wall !== null; wall = nextWall(wall)) {
    const moment = zone.firstMomentOf(wall)
    if (moment > after) return moment
  }
  return null
}

function nextByElapsedTime(zone: Zone, { isDueDay, nextWall }: Calendar, after: number): number | null {
  let moment = after - (after % SECOND_MS) + SECOND_MS
  for (;;) {
    const wall = zone.wallAt(moment)
    const due = nextWall(wall - SECOND_MS)
    if (due === null || due === wall) return due === null ? null : moment
    // Clocks change at the end of an hour: what they show beyond it is only known there.
    if (isDueDay(wall)) moment += Math.min(due - wall, HOUR_MS - (wall % HOUR_MS))
    else moment = zone.firstMomentOf(due - (due % DAY_MS))
  }
}

/** A line without its zone: which wall times it names. */
interface Calendar {
  isDueDay(wall: number): boolean
  /**
   * The first wall time of the line after `wall`; null when there is none for
   * {@link LOOK_AHEAD_DAYS}.
   */
  nextWall(wall: number): number | null
}

function openCalendar(fields: ParsedFields): Calendar {
  const months = new Set(fields.month)
  const times = { hours: ascending(fields.hour), minutes: ascending(fields.minute), seconds: ascending(fields.second) }
  const matchDay = openDayMatcher(fields)
  let known = { day: Number.NaN, isDue: false }

  const isDueDay = (wall: number): boolean => {
    const day = Math.floor(wall / DAY_MS)
    if (day !== known.day) {
      const date = new Date(day * DAY_MS)
      known = { day, isDue: months.has(date.getUTCMonth() + 1) && matchDay(date) }
    }
    return known.isDue
  }
  const nextWall = (wall: number): number | null => {
    const today = wall - (wall % DAY_MS)
    for (let ahead = 0; ahead < LOOK_AHEAD_DAYS; ahead++) {
      const day = today + ahead * DAY_MS
      const time = isDueDay(day) ? firstTime(times, wall - day) : null
      if (time !== null) return day + time
    }
    return null
  }
  return { isDueDay, nextWall }
}

/**
 * node-cron knows what `L`, `15W` and `2#1` mean; it is asked about the day alone, in the frame of
 * wall times.
 */
function openDayMatcher({ dayOfMonth, month, dayOfWeek }: ParsedFields): (date: Date) => boolean {
  const task = createTask(`* * * ${dayOfMonth} ${month} ${dayOfWeek}`, () => {}, { timezone: 'UTC' })
  // A task stays in node-cron's list of tasks until it is destroyed; it goes on matching.
  void task.destroy()
  return (date) => task.match(date)
}

/** The first time of day later than `after`, in milliseconds since midnight. */
function firstTime(
  times: { hours: readonly number[]; minutes: readonly number[]; seconds: readonly number[] },
  after: number,
): number | null {
  for (const hour of times.hours) {
    if ((hour + 1) * HOUR_MS <= after) continue
    for (const minute of times.minutes) {
      const start = hour * HOUR_MS + minute * 60_000
      const second = times.seconds.find((each) => start + each * SECOND_MS > after)
      if (second !== undefined) return start + second * SECOND_MS
    }
  }
  return null
}

function ascending(values: readonly number[]): number[] {
  return [...values].sort((a, b) => a - b)
}

const FIELDS: Record<string, { name: string; takes: string }> = {
  expression: {
    name: 'the line',
    takes: 'five or six fields with one space between: [second] minute hour day-of-month month day-of-week',
  },
  second: { name: 'second', takes: '0-59' },
  minute: { name: 'minute', takes: '0-59' },
  hour: { name: 'hour', takes: '0-23' },
  dayOfMonth: { name: 'day of month', takes: '1-31 where the month has that day, L, L-3, LW or 15W' },
  month: { name: 'month', takes: '1-12 or jan-dec' },
  dayOfWeek: { name: 'day of week', takes: '0-7 (0 and 7 are Sunday) or sun-sat, 5L or 2#1' },
}

function parseFields(expression: string): ParsedFields {
  const checked = validateDetailed(expression)
  if (checked.valid && checked.fields) return checked.fields
  const faults = checked.errors.map(({ field, value }) => {
    const { name, takes } = FIELDS[field] ?? { name: field, takes: 'another value' }
    return `${name} "${value}" does not fit, it takes ${takes}`
  })
  const hint = '"*", lists "1,15", ranges "1-5" and steps "*/10" are understood'
  throw new UpshotError(
    'invalid_workflow',
    `"${expression}" is no cron line: ${faults.join('; ')}. In all fields ${hint}.`,
  )
}
