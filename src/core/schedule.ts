import { type Duration, parseDuration } from './time.ts'

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
}

export interface ScheduleOptions {
  timezone?: string
  catchUp?: Schedule['catchUp']
  /** Default 24h. */
  within?: Duration
}

/** What an author writes after `on:` for a cron workflow. */
export interface CronTrigger extends Schedule {
  kind: 'cron'
}

/** A schedule for a workflow's `on`. Fields and zone are checked when the module is loaded. */
export function cron(expression: string, options: ScheduleOptions = {}): CronTrigger {
  return {
    kind: 'cron',
    expression,
    timezone: options.timezone ?? 'UTC',
    catchUp: options.catchUp ?? 'latest',
    withinMs: parseDuration(options.within ?? '24h'),
  }
}

/** One due moment of a schedule, as the author sees it. */
export interface Tick {
  scheduledFor: Date
  /** The moment of the tick before this one; null for the first. */
  lastRunAt: Date | null
  /** Moments before this one that got no run of their own. */
  missed: number
}

export interface DueTick {
  scheduledFor: number
  missed: number
}

/** Missed moments from before the window are counted up to here; an exact figure of a long absence helps nobody. */
const MOST_COUNTED = 10_000

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
  const tooOld = countAtMost(MOST_COUNTED, momentsBetween(lastAt, since, nextMoment))
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
