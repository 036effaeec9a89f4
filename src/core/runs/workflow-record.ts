import type { CronTrigger } from './schedule.ts'

/** A workflow as processes know it that have not loaded its module. */
export interface WorkflowRecord {
  id: string
  /** Name of the module. */
  file: string
  /** Event types that start it. */
  eventTypes: string[]
  schedule: CronTrigger | null
  /** Of its runs until they have been looked at; left out where it is 0. */
  priority?: number
  loadedAt: number
  /** Null: not paused. */
  pausedAt: number | null
  /** Runs that wait because of the pause. */
  held: number
}

/** What was found in the workflows folder. */
export interface LoadedWorkflows {
  workflows: readonly Pick<WorkflowRecord, 'id' | 'file' | 'eventTypes' | 'schedule' | 'priority'>[]
  /** Modules that could not be loaded. */
  broken: readonly string[]
}
