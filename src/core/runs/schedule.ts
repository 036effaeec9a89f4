/** A cron line, and the rules for moments that were missed. */
export interface Schedule {
  /**
   * Five fields, or six with seconds first. Day of month and day of week must both match; Vixie
   * cron takes either.
   */
  expression: string
  /** IANA name, such as `Europe/Berlin`. */
  timezone: string
  /** Missed moments: `latest` makes one run for all of them, `all` one each, `skip` none. */
  catchUp: 'skip' | 'latest' | 'all'
  /** Moments missed longer ago than this, in milliseconds, are only counted. */
  withinMs: number
  /** The rule for a tick that falls due before the previous tick's run has finished. */
  overlap: Overlap
}

/**
 * The rule for a tick that falls due before the previous tick's run has finished.
 *
 * `queue` (default): it waits for that run, so no tick is lost and two never run together. `skip`:
 * it is recorded as a skipped run. `allow`: both run.
 *
 * A tick held by a paused workflow is never skipped: later ticks queue behind it.
 */
export type Overlap = 'queue' | 'skip' | 'allow'

/** The value of `on` for a cron workflow; `cron()` makes it. */
export interface CronTrigger extends Schedule {
  kind: 'cron'
  /** The accounts that each moment makes a run for; `each`: all that exist at that moment. */
  accounts: readonly string[] | 'each'
}

/** A due moment that gets a run. */
export interface DueTick {
  /** Epoch milliseconds. */
  scheduledFor: number
  /** Moments before this one that get no run. */
  missed: number
}

/** A schedule with its history, as an operator sees it. Times are epoch milliseconds. */
export interface ScheduleRecord {
  workflow: string
  trigger: CronTrigger
  /** When this line was first loaded or last resumed; earlier moments are not caught up with. */
  startedAt: number | null
  /** The latest tick, manual ones included; null: none yet. */
  lastTickAt: number | null
  /** Id of the latest tick's run. */
  lastRun: string | null
  pausedAt: number | null
  /** Moments without a run because nothing was running at that time. */
  missed: number
  /** Ticks skipped because the previous run had not finished. */
  skipped: number
  /** Moments without a run because the schedule was paused. */
  suppressed: number
  /** Ticks whose runs are not finished, queued ones included. */
  unfinished: number
}

/** How a tick is recorded. */
export interface TickOptions {
  /** Default `allow`. */
  overlap?: Overlap
  /** The account that the run acts for. Default `default`. */
  account?: string
  /**
   * False: another account's tick of this moment, recorded after this one, counts the moment as
   * handled. Default true.
   */
  isLast?: boolean
  /** Made by a person: it is not a moment of the line, and a paused schedule does not hold it. */
  isManual?: boolean
}

/** Largest count of moments missed before the window; a longer absence needs no exact number. */
const MAX_COUNTED = 10_000

/** A moment noticed within this time is on time, not missed: timers fire late. */
const ON_TIME_MS = 30_000

/** A schedule's first moment after another one, in epoch milliseconds; null when there is none. */
export type NextMoment = (after: number) => number | null

/** The part of a schedule's past that {@link decideDue} looks at. */
interface Past {
  lastAt: number
  now: number
  nextMoment: NextMoment
}

/** The moments of a cron line that have passed. */
interface Due {
  /** The ticks to record, oldest first. */
  ticks: DueTick[]
  /** Moments that get no run, whether a tick tells of them now or later. */
  missed: number
}

/** Decides about the moments after `lastAt` and up to `now`. */
export function decideDue(schedule: Schedule, past: Past): Due {
  const slices = decideDueInSlices(schedule, past)
  for (;;) {
    const { done, value } = slices.next()
    if (done) return value
  }
}

/** Moments that are computed between two pauses: a few milliseconds of work. */
const SLICE = 1_000

/** Like {@link decideDue}, with a pause after each slice, in which the caller may do other work. */
export function* decideDueInSlices(schedule: Schedule, { lastAt, now, nextMoment }: Past): Generator<undefined, Due> {
  const since = Math.max(lastAt, now - Math.max(schedule.withinMs, ON_TIME_MS) - 1)
  const fresh = yield* listMoments({ after: since, until: now, most: Infinity }, nextMoment)
  const latest = fresh.at(-1)
  const tooOld = (yield* listMoments({ after: lastAt, until: since, most: MAX_COUNTED }, nextMoment)).length
  if (latest === undefined) return { ticks: [], missed: tooOld }
  if (schedule.catchUp === 'all') {
    const ticks = fresh.map((moment, index) => ({ scheduledFor: moment, missed: index === 0 ? tooOld : 0 }))
    return { ticks, missed: tooOld }
  }
  const missed = tooOld + fresh.length - 1
  if (schedule.catchUp === 'skip' && now - latest >= ON_TIME_MS) return { ticks: [], missed: missed + 1 }
  return { ticks: [{ scheduledFor: latest, missed }], missed }
}

function* listMoments(
  { after, until, most }: { after: number; until: number; most: number },
  nextMoment: NextMoment,
): Generator<undefined, number[]> {
  const moments: number[] = []
  for (let moment = nextMoment(after); moment !== null && moment <= until; moment = nextMoment(moment)) {
    moments.push(moment)
    if (moments.length >= most) break
    if (moments.length % SLICE === 0) yield
  }
  return moments
}
