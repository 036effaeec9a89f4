/** A cron line and what to do about moments that passed while nobody was looking. */
export interface Schedule {
  /** Five or six fields. Day-of-month and day-of-week must both match (Vixie cron takes either). */
  expression: string
  /** IANA name; default UTC. */
  timezone: string
  /** `latest` (default): one run for all missed moments; `all`: one each; `skip`: none. */
  catchUp: 'skip' | 'latest' | 'all'
  /** Moments missed longer ago than this are only counted. */
  withinMs: number
  /** What becomes of a tick that falls due while the run of the one before is not finished. */
  overlap: Overlap
}

/**
 * `queue` (default): it waits until that run has ended, so no tick is lost and never two are at
 * work. `skip`: it is recorded as a skipped run. `allow`: both run. A tick that waits because its
 * workflow is paused is never skipped over: those behind it queue.
 */
export type Overlap = 'queue' | 'skip' | 'allow'

/** What an author writes after `on:` for a cron workflow. */
export interface CronTrigger extends Schedule {
  kind: 'cron'
}

export interface DueTick {
  scheduledFor: number
  missed: number
}

/** A schedule as an operator sees it. */
export interface ScheduleRecord {
  workflow: string
  trigger: CronTrigger
  /**
   * When it was first seen with this line, or went on after a pause; nothing before it is caught up
   * with.
   */
  startedAt: number | null
  /** The latest tick, made by hand or not; null: none yet. */
  lastTickAt: number | null
  lastRun: string | null
  pausedAt: number | null
  /**
   * Moments that got no run, so far: passed while nobody looked, while the run before was at work,
   * while it was paused.
   */
  missed: number
  skipped: number
  suppressed: number
  /** Ticks that are not finished, those that queue included. */
  unfinished: number
}

/** How a tick is recorded. */
export interface TickOptions {
  /** Default `allow`. */
  overlap?: Overlap
  /**
   * Made by a person: it is no moment of the line, and a pause of the schedule does not hold it.
   */
  isManual?: boolean
}

/**
 * Missed moments from before the window are counted up to here; an exact figure of a long absence
 * helps nobody.
 */
const MAX_COUNTED = 10_000

/** Moments noticed within this time are on time, not missed: wake-ups are late by a little. */
const ON_TIME_MS = 30_000

/** Gives a schedule's first moment after another one; null when there is none any more. */
export type NextMoment = (after: number) => number | null

/** Which moments after `lastAt` and up to `now` are to be run. */
export function decideDue(
  schedule: Schedule,
  { lastAt, now, nextMoment }: { lastAt: number; now: number; nextMoment: NextMoment },
): DueTick[] {
  const since = Math.max(lastAt, now - Math.max(schedule.withinMs, ON_TIME_MS) - 1)
  const fresh = [...momentsBetween(since, now, nextMoment)]
  const latest = fresh.at(-1)
  if (latest === undefined) return []
  const tooOld = countAtMost(MAX_COUNTED, momentsBetween(lastAt, since, nextMoment))
  const missed = tooOld + fresh.length - 1
  switch (schedule.catchUp) {
    case 'all':
      return fresh.map((moment, index) => ({ scheduledFor: moment, missed: index === 0 ? tooOld : 0 }))
    case 'latest':
      return [{ scheduledFor: latest, missed }]
    case 'skip':
      return now - latest < ON_TIME_MS ? [{ scheduledFor: latest, missed }] : []
  }
}

function* momentsBetween(after: number, until: number, nextMoment: NextMoment): Generator<number> {
  for (let moment = nextMoment(after); moment !== null && moment <= until; moment = nextMoment(moment)) yield moment
}

function countAtMost(limit: number, moments: Iterable<number>): number {
  let count = 0
  for (const _ of moments) if (++count >= limit) break
  return count
}
