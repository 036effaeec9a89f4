import type {
  DueSchedule,
  DueTick,
  NewSchedule,
  ScheduleLook,
  ScheduleQuery,
  ScheduleRecord,
  TickOptions,
} from '../runs/schedule.ts'

/** A place in the order in which schedules are due. */
export type DuePlace = Pick<DueSchedule, 'nextAt' | 'id'>

export interface ScheduleWrites {
  /** Adds a schedule. Throws `conflict` where the name is taken. */
  addSchedule(schedule: NewSchedule, now: number): Promise<void>
  /** Changes a schedule of a person or of code; other moments begin now. Throws `not_found`. */
  editSchedule(schedule: Omit<NewSchedule, 'owner' | 'madeBy' | 'depth'>, now: number): Promise<void>
  /** Removes a schedule of a person or of code; its runs stay. Throws `not_found`. */
  removeSchedule(schedule: { id: string; name: string }): Promise<void>
  /**
   * Counts the moments after `since` that passed without a tick, and resolves with those that were
   * not counted yet. The next tick tells its run of them, and counts none twice.
   */
  noteMissed(id: string, missed: number, since: number): Promise<number>
  /**
   * Saves a tick and its run in one commit, and returns the run's id. Null when the tick exists,
   * its schedule is paused, or is another than the scheduler looked at. `overlap` may queue or skip
   * the run. A schedule that is not there is a line of the workflow with this id.
   */
  recordTick(id: string, tick: DueTick, now: number, options?: TickOptions): Promise<string | null>
  /** Says when a scheduler looks at it again. */
  lookAtSchedule(id: string, look: ScheduleLook, now: number): Promise<void>
  /** Looks again at all that a scheduler saw after `now`, by a clock that was ahead. */
  relookSchedules(now: number): Promise<void>
  /** Sends the event of a schedule, once. False where it is another than the scheduler saw. */
  sendScheduled(id: string, version: number, now: number): Promise<boolean>
  /**
   * Pauses or resumes a schedule; moments of the pause are counted, never caught up with. False
   * when nothing changed, `not_found` without a schedule.
   */
  pauseSchedule(id: string, isPaused: boolean, now: number): Promise<boolean>
  /** Removes up to `limit` schedules that were done before a moment; returns how many. */
  pruneSchedules(before: number, limit: number): Promise<number>
}

export interface ScheduleReads {
  /** Lines of modules that are gone are left out. */
  listSchedules(query: ScheduleQuery): Promise<ScheduleRecord[]>
  /** By its id, else by its name. */
  findSchedule(name: string): Promise<ScheduleRecord | null>
  /** Those that a scheduler has to look at by `now`, the longest due first. */
  listDueSchedules(now: number, query: { limit: number; after?: DuePlace }): Promise<DueSchedule[]>
  /** When the next one after `now` is due; null: none is. */
  nextScheduleAt(now: number): Promise<number | null>
  /** Missed moments by workflow, without those that missed none. */
  tallyMissed(): Promise<{ workflow: string; missed: number }[]>
  /** Moments of a schedule between two that have a tick, up to `limit`. */
  listTickMoments(id: string, between: { from: number; to: number; limit: number }): Promise<number[]>
}
