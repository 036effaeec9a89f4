import { UpshotError } from '../core/errors.ts'

/**
 * Converts between moments and the wall times of a time zone. A wall time is the epoch time in
 * milliseconds of a UTC clock that shows the same.
 */
export interface Zone {
  /** The wall time at a moment, in whole seconds. */
  wallAt(moment: number): number
  /** The first moment with this wall time; where clocks skip it, the moment of the jump. */
  firstMomentOf(wall: number): number
}

const SECOND_MS = 1_000
const DAY_MS = 86_400_000
/** Offsets change only at quarters of an hour, so one is cached per quarter. */
const QUARTER_MS = 900_000

/** Opens an IANA time zone. Throws `invalid_workflow` for an unknown name. */
export function openZone(name: string): Zone {
  const format = openFormat(name)
  let known = { quarter: Number.NaN, offsetMs: 0 }

  const offsetAt = (moment: number): number => {
    const quarter = Math.floor(moment / QUARTER_MS)
    if (quarter !== known.quarter) known = { quarter, offsetMs: readWall(format, moment) - floorSecond(moment) }
    return known.offsetMs
  }
  const wallAt = (moment: number) => floorSecond(moment) + offsetAt(moment)
  const firstMomentOf = (wall: number): number => {
    const before = wall - offsetAt(wall - DAY_MS)
    const after = wall - offsetAt(wall + DAY_MS)
    const [early, late] = before < after ? [before, after] : [after, before]
    if (wallAt(early) === wall) return early
    return wallAt(late) === wall ? late : firstSecond(early, late, (moment) => wallAt(moment) > wall)
  }
  return { wallAt, firstMomentOf }
}

function openFormat(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch (cause) {
    throw new UpshotError(
      'invalid_workflow',
      `"${timeZone}" is not a time zone. Use an IANA name such as "Europe/Berlin" or "UTC".`,
      { cause },
    )
  }
}

function readWall(format: Intl.DateTimeFormat, moment: number): number {
  const shown = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown
  return Date.UTC(year, month - 1, day, hour, minute, second)
}

/**
 * Binary search for the first whole second in (`from`, `to`] where `isReached`; it holds at `to`.
 */
function firstSecond(from: number, to: number, isReached: (moment: number) => boolean): number {
  let [low, high] = [from, to]
  while (high - low > SECOND_MS) {
    const middle = floorSecond((low + high) / 2)
    if (isReached(middle)) high = middle
    else low = middle
  }
  return high
}

function floorSecond(moment: number): number {
  return Math.floor(moment / SECOND_MS) * SECOND_MS
}
