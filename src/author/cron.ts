import type { CronTrigger, Overlap, Schedule } from '../core/runs/schedule.ts'
import { planCron } from '../core/service/plan-schedule.ts'
import type { Duration } from '../core/time.ts'
import { checkDefinition } from './check-calls.ts'

/** Options of `cron`. */
export interface ScheduleOptions {
  /** IANA name, such as `Europe/Berlin`. Default `UTC`. */
  timezone?: string
  /**
   * Moments that were missed: `latest` makes one run for all of them, `all` one each, `skip` none.
   * Default `latest`.
   */
  catchUp?: Schedule['catchUp']
  /** Moments missed longer ago than this are only counted. At most 366 days; default 24h. */
  within?: Duration
  /**
   * The rule for a tick that falls due before the previous tick's run has finished. Default
   * `queue`.
   */
  overlap?: Overlap
  /**
   * The account that the runs act for, or several: then each moment makes a run for each of them.
   * `overlap` looks at each account alone. Default: the account `default`.
   */
  account?: string | readonly string[]
  /** `each`: a run for every account that exists at the moment, `default` included. */
  accounts?: 'each'
}

/**
 * A schedule, for a workflow's `on`. Throws `invalid_duration` for a wrong `within`, and
 * `invalid_workflow` for a wrong account or option.
 *
 * `expression` has five fields: minute, hour, day of month, month and day of week. A sixth field in
 * front counts seconds.
 *
 * Day of month and day of week must both match; Vixie cron takes either. A module does not load
 * when its line or time zone is not valid, or when no day fits.
 */
export function cron(expression: string, options: ScheduleOptions = {}): CronTrigger {
  checkDefinition('cron', expression, options)
  return planCron(expression, options)
}

/** A due moment of a schedule, as the workflow's code gets it. */
export interface Tick {
  /** The moment that was due, not the moment at which the run began. */
  scheduledFor: Date
  /** The moment of the previous tick; null for the first one. */
  lastRunAt: Date | null
  /** Moments since the previous tick that got no run of their own. */
  missed: number
}
