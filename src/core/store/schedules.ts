import type { DueTick, ScheduleRecord, TickOptions } from '../runs/schedule.ts'

export interface ScheduleWrites {
  /** The last recorded moment of a schedule; a schedule that is new starts at `now`. */
  startSchedule(workflow: string, expression: string, now: number): Promise<number>
  /**
   * Counts the moments after `since` that passed without a tick, and resolves with those that were
   * not counted yet. The next tick tells its run of them, and counts none twice.
   */
  noteMissed(workflow: string, missed: number, since: number): Promise<number>
  /**
   * Saves a tick and its run in one commit, and returns the run's id. Null when the tick exists or
   * its schedule is paused; `overlap` may queue or skip the run.
   */
  recordTick(workflow: string, tick: DueTick, now: number, options?: TickOptions): Promise<string | null>
  /**
   * Pauses or resumes a schedule; moments of the pause are counted, never caught up with. False
   * when nothing changed, `not_found` without a schedule.
   */
  pauseSchedule(workflow: string, isPaused: boolean, now: number): Promise<boolean>
}

export interface ScheduleReads {
  /** By workflow; schedules of workflows that are gone are left out. */
  listSchedules(): Promise<ScheduleRecord[]>
}
