import type { CronTrigger, Overlap, Schedule } from '../core/runs/schedule.ts'
import type { Duration } from '../core/time.ts'
import { parseDuration } from '../core/time.ts'

export interface ScheduleOptions {
  timezone?: string
  catchUp?: Schedule['catchUp']
  /** Default 24h. */
  within?: Duration
  /** Default `queue`. */
  overlap?: Overlap
}

/** A schedule for a workflow's `on`. Fields and zone are checked when the module is loaded. */
export function cron(expression: string, options: ScheduleOptions = {}): CronTrigger {
  return {
    kind: 'cron',
    expression,
    timezone: options.timezone ?? 'UTC',
    catchUp: options.catchUp ?? 'latest',
    withinMs: parseDuration(options.within ?? '24h'),
    overlap: options.overlap ?? 'queue',
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
