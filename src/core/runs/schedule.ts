import { UpshotError } from '../errors.ts'

export interface TickRules {
  /** Missed moments: `latest` makes one run for all of them, `all` one each, `skip` none. */
  catchUp: 'skip' | 'latest' | 'all'
  /** Moments missed longer ago than this, in milliseconds, are only counted. */
  withinMs: number
  /** The rule for a tick that falls due before the previous tick's run has finished. */
  overlap: Overlap
}

/** A cron line, and the rules for moments that were missed. */
export interface Schedule extends TickRules {
  /**
   * Five fields, or six with seconds first. Day of month and day of week must both match; Vixie
   * cron takes either.
   */
  expression: string
  /** IANA name, such as `Europe/Berlin`. */
  timezone: string
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

/** Whether two lines are due at the same moments. A zone may have several names, as Kyiv has. */
export function hasSameMoments(one: Schedule, other: Schedule): boolean {
  return one.expression === other.expression && nameZone(one.timezone) === nameZone(other.timezone)
}

/** The one name of a zone by which the platform knows it. */
function nameZone(timeZone: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone
  } catch {
    // Another release of Node saved it.
    return timeZone
  }
}

/** One moment, in epoch milliseconds. */
export interface OncePlan extends TickRules {
  kind: 'once'
  at: number
  accounts: readonly string[] | 'each'
}

/** Past moments of another schedule, one after the other. */
export interface BackfillPlan {
  kind: 'backfill'
  /** Id of that schedule, and its line when the backfill was made. */
  of: string
  line: CronTrigger
  /** The first and the last moment that may be among them, in epoch milliseconds. */
  from: number
  to: number
  perMinute: number
}

export type SchedulePlan = CronTrigger | OncePlan | BackfillPlan

/** The owner of a schedule: a module with a cron line, a person, or the code of a run. */
export const SCHEDULE_OWNERS = ['module', 'person', 'code'] as const
type ScheduleOwner = (typeof SCHEDULE_OWNERS)[number]

/** A schedule that a person or a step makes. */
export interface NewSchedule {
  /** `sch_…`; a schedule that is made again under its name keeps the id that it has. */
  id: string
  name: string
  owner: Exclude<ScheduleOwner, 'module'>
  /** The person, or the run. */
  madeBy: string
  /** Null: `input` is the event to send, a {@link SentEvent} without its workflows. */
  workflow: string | null
  plan: SchedulePlan
  /** JSON text; null for the moments of a backfill. */
  input: string | null
  /** Depth of the runs that it starts. Default 0. */
  depth?: number
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
  /** `sch_…`; of a line in code, the id of its workflow. */
  id: string
  name: string
  owner: ScheduleOwner
  /** The file of the module, the person, or the run. */
  madeBy: string
  workflow: string | null
  plan: SchedulePlan
  /** JSON text; null for a line in code. */
  input: string | null
  createdAt: number
  /** When it was made, changed or last resumed; earlier moments are not caught up with. */
  startedAt: number
  /** The latest moment that is handled, with a run or without; 0: none yet. */
  handledAt: number
  /** When a scheduler looks at it next; null once it is done. */
  nextAt: number | null
  doneAt: number | null
  /** The latest tick, manual ones included; null: none yet. */
  lastTickAt: number | null
  /** Id of the latest tick's run. */
  lastRun: string | null
  pausedAt: number | null
  /** Moments without a run because nothing was running at that time. */
  missed: number
  /** Ticks skipped because the run before was at work; moments that a backfill passed over. */
  skipped: number
  /** Moments without a run because the schedule was paused. */
  suppressed: number
  /** Ticks whose runs are not finished, queued ones included. */
  unfinished: number
}

export interface DueSchedule extends Pick<ScheduleRecord, 'id' | 'name' | 'workflow' | 'plan'> {
  /** Rises with each change; writes that name another one change nothing. */
  version: number
  /** The moment that called for the look. */
  nextAt: number
  /** The latest moment that is handled. */
  lastAt: number
  isPaused: boolean
}

/** Which schedules, and in which order: by id, or by the moment at which each is due next. */
export interface ScheduleQuery {
  limit: number
  /** Id of the last one of the page before. */
  after?: string
  workflow?: string
  owner?: ScheduleOwner
  order?: 'id' | 'next'
}

export interface ScheduleLook {
  version: number
  /** When to look again; null: nothing is left to do. */
  nextAt: number | null
  /** The moment that called for the look: where another process was first, nothing changes. */
  dueAt?: number | null
  /** Of a backfill: the last moment that it handled, and moments that it passed over. */
  handledAt?: number
  skipped?: number
}

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
  /** The look that found it; it counts once this tick is recorded. */
  look?: ScheduleLook
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

/** Moments that are computed between two pauses: a few milliseconds of work. */
const SLICE = 1_000

/**
 * Decides about the moments after `lastAt` and up to `now`. It pauses after each slice, so that the
 * caller may do other work.
 */
export function* decideDue(schedule: TickRules, { lastAt, now, nextMoment }: Past): Generator<undefined, Due> {
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

/** Names that people and code give to schedules. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}$/

/** Throws `invalid_request`. */
export function requireScheduleName(name: string): void {
  if (NAME.test(name)) return
  throw new UpshotError('invalid_request', `"${name}" is not a name for a schedule.`, {
    details: { fix: 'Use 1 to 100 letters, digits and ". _ : @ -", and begin with a letter or a digit.' },
  })
}

/** The refusal to add a second schedule of a name. */
export function describeTakenSchedule(name: string): UpshotError {
  return new UpshotError('conflict', `There is a schedule named "${name}" already.`, {
    details: { fix: `Change it with "upshot schedules edit ${name}", or choose another name.` },
  })
}

/** Moments of one backfill at most. */
export const MAX_BACKFILL = 10_000

/** A schedule that is done stays in lists for this long. */
export const DONE_KEPT_MS = 7 * 86_400_000

/** A one-time schedule runs however late, unless its maker says otherwise. */
export const ONCE_WITHIN_MS = 10 * 366 * 86_400_000

/** A place in the order in which schedules are due. */
export type DueCursor = Pick<DueSchedule, 'nextAt' | 'id'>
