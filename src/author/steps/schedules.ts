import type { ScheduleOptions } from '../cron.ts'
import type { InputOf, Invocable, Trigger } from '../trigger.ts'

/** Options of `step.send`. */
export interface SendOptions {
  /**
   * Sends the event at this moment, a date or epoch milliseconds, and at once where it has passed.
   * It is in the list of `upshot schedules` before, which can remove it. Default: at once.
   */
  at?: Date | number
}

/** A schedule that `step.schedule` makes. */
export type ScheduleRequest<On extends Trigger = Trigger> = Omit<ScheduleOptions, 'accounts' | 'account'> & {
  /** The workflow that it starts, with `on: callable(…)`. */
  workflow: Invocable<On>
  /** The input of each of its runs; it has to fit the schema. */
  input?: InputOf<On>
  /** A cron line; see `cron`. Either this or `at`. */
  cron?: string
  /** The one moment: a date or epoch milliseconds. One that has passed is due at once. */
  at?: Date | number
  /** The accounts that its runs act for. Default: the account of this run. */
  account?: string | readonly string[]
  /** `each`: a run for every account that exists at the moment. */
  accounts?: 'each'
}
