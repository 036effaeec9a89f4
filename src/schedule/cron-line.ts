import { createTask, type ParsedFields, validateDetailed } from 'node-cron'
import { UpshotError } from '../core/errors.ts'
import type { NextMoment } from '../core/runs/schedule.ts'
import { openZone, type Zone } from './zone.ts'

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** How far a search goes. The longest gap, a 29 February on a given weekday, is 40 years. */
const MAX_SEARCH_DAYS = 41 * 366

/**
 * Reads a cron line for a time zone, or throws `invalid_workflow` that names the wrong field.
 * Day-of-month and day-of-week must both match.
 */
export function parseCronLine(expression: string, timezone: string): NextMoment {
  const fields = parseFields(expression)
  const zone = openZone(timezone)
  const calendar = openCalendar(fields)
  if (calendar.nextWall(Date.UTC(2000, 0, 1)) === null) {
    throw new UpshotError('invalid_workflow', `No day ever fits the cron line "${expression}".`)
  }
  // A line for every hour ignores clock changes; any other runs once per wall time. See decision
  // 27.
  const isEveryHour = new Set(fields.hour).size === 24
  return isEveryHour
    ? (after) => nextByElapsedTime(zone, calendar, after)
    : (after) => nextByWallTime(zone, calendar, after)
}

/** A skipped wall time runs at the moment of the jump; one that occurs twice, the first time. */
function nextByWallTime(zone: Zone, { nextWall }: Calendar, after: number): number | null {
  for (let wall = nextWall(zone.wallAt(after)); wall !== null; wall = nextWall(wall)) {
    const moment = zone.firstMomentOf(wall)
    if (moment > after) return moment
  }
  return null
}

/** An hour that occurs twice runs twice; nothing replaces an hour that is skipped. */
function nextByElapsedTime(zone: Zone, { isDueDay, nextWall }: Calendar, after: number): number | null {
  let moment = after - (after % SECOND_MS) + SECOND_MS
  for (;;) {
    const wall = zone.wallAt(moment)
    const due = nextWall(wall - SECOND_MS)
    if (due === null || due === wall) return due === null ? null : moment
    // Clocks may change at the end of an hour, so no step goes beyond it.
    if (isDueDay(wall)) moment += Math.min(due - wall, HOUR_MS - (wall % HOUR_MS))
    else moment = zone.firstMomentOf(due - (due % DAY_MS))
  }
}

/** The wall times that a line names, without a time zone. */
interface Calendar {
  isDueDay(wall: number): boolean
  /** The first wall time after `wall`; null where there is none within {@link MAX_SEARCH_DAYS}. */
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
    for (let ahead = 0; ahead < MAX_SEARCH_DAYS; ahead++) {
      const day = today + ahead * DAY_MS
      const time = isDueDay(day) ? firstTime(times, wall - day) : null
      if (time !== null) return day + time
    }
    return null
  }
  return { isDueDay, nextWall }
}

/** node-cron decides about the day only, in UTC: it understands `L`, `15W` and `2#1`. */
function openDayMatcher({ dayOfMonth, month, dayOfWeek }: ParsedFields): (date: Date) => boolean {
  const task = createTask(`* * * ${dayOfMonth} ${month} ${dayOfWeek}`, () => {}, { timezone: 'UTC' })
  // node-cron keeps a task in its list until it is destroyed; `match` works afterwards, too.
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

/** The values of each field, in the order of a line. */
const SIZES = [
  { name: 'second', size: 60 },
  { name: 'minute', size: 60 },
  { name: 'hour', size: 24 },
  { name: 'day of month', size: 31 },
  { name: 'month', size: 12 },
  { name: 'day of week', size: 7 },
]
const NAMES = [
  'jan feb mar apr may jun jul aug sep oct nov dec'.split(' '),
  'sun mon tue wed thu fri sat'.split(' '),
] as const

/** Parts that node-cron reads otherwise than they look: steps past the field, backward ranges. */
function listDoubts(expression: string): string[] {
  const texts = expression.trim().split(/\s+/)
  if (texts.length < 5) return []
  const fields = SIZES.slice(-texts.length)
  return fields.flatMap(({ name, size }, index) =>
    (texts[index] ?? '').split(',').flatMap((part) => {
      const [, from = '', to = '', step = ''] = /^(?:\*|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/.exec(part) ?? []
      if (Number(step) > size) return [`${name} "${part}" steps over all ${size} values`]
      // A week may end with its Sunday, which is also day 7.
      const end = to.toLowerCase() === 'sun' ? 7 : readValue(to, name)
      if (to === '' || !(readValue(from, name) > end)) return []
      return [`${name} "${part}" ends before it begins; write two ranges with a comma`]
    }),
  )
}

function readValue(text: string, field: string): number {
  const word = text.slice(0, 3).toLowerCase()
  if (field === 'month' && NAMES[0].includes(word)) return NAMES[0].indexOf(word) + 1
  return field === 'day of week' && NAMES[1].includes(word) ? NAMES[1].indexOf(word) : Number(text)
}

function parseFields(expression: string): ParsedFields {
  const checked = validateDetailed(expression)
  const doubts = listDoubts(expression)
  if (checked.valid && checked.fields && doubts.length === 0) return checked.fields
  const faults = checked.errors.map(({ field, value }) => {
    const { name, takes } = FIELDS[field] ?? { name: field, takes: 'another value' }
    return `${name} "${value}" does not fit, it takes ${takes}`
  })
  faults.push(...doubts)
  const hint = 'use "*", lists "1,15", ranges "1-5" and steps "*/10"'
  throw new UpshotError(
    'invalid_workflow',
    `"${expression}" is not a cron line: ${faults.join('; ')}. In all fields, ${hint}.`,
  )
}
