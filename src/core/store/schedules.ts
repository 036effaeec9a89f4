import type { DueTick, ScheduleRecord, TickOptions } from '../runs/schedule.ts'

export interface ScheduleWrites {
  /**
   * The last recorded moment of a workflow's schedule; the first call for a schedule starts it at
   * `now`.
   */
  startSchedule(workflow: string, expression: string, now: number): Promise<number>
  /**
   * The tick and its run in one commit; null when it is recorded already, by whomever, or its
   * schedule is paused. Under `overlap`, the run may wait for the tick before it or be skipped from
   * the start.
   */
  recordTick(workflow: string, tick: DueTick, now: number, options?: TickOptions): Promise<string | null>
  /**
   * Stops or goes on making ticks. Moments in between are counted and not caught up with. False
   * when it was so already; `not_found` without a schedule.
   */
  pauseSchedule(workflow: string, isPaused: boolean, now: number): Promise<boolean>
}

export interface ScheduleReads {
  /** By workflow; those whose workflow is gone are not among them. */
  listSchedules(): Promise<ScheduleRecord[]>
}
