import type { JsonValue } from '../json.ts'
import type { CronTrigger } from './schedule.ts'

/** A workflow as processes know it that have not loaded its module. */
export interface WorkflowRecord {
  id: string
  /** File name of the module. */
  file: string
  /** Event types and patterns that start it. */
  eventTypes: string[]
  schedule: CronTrigger | null
  /** JSON Schema of the input of a callable workflow; left out for any other. */
  input?: JsonValue
  /** Priority of new runs until they are admitted; left out where it is 0. */
  priority?: number
  /** `timeout.run` in milliseconds; left out where there is none. */
  runTimeoutMs?: number
  loadedAt: number
  /** Epoch milliseconds; null: not paused. */
  pausedAt: number | null
  /** Runs that wait because of the pause. */
  held: number
}

/** A module that a process could not load, so that its code is not at work there. */
export interface BrokenModule {
  file: string
  /** The fault in words, which says what to do where we know it. */
  reason: string
}

export function describeBroken({ file, reason }: BrokenModule): string {
  return `${file} cannot be loaded: ${reason}`
}

export interface LoadedWorkflows {
  workflows: readonly Pick<
    WorkflowRecord,
    'id' | 'file' | 'eventTypes' | 'schedule' | 'input' | 'priority' | 'runTimeoutMs'
  >[]
  /** File names of modules that could not be loaded. */
  broken: readonly string[]
  /** The worker that loaded them; left out where no worker did. */
  worker?: string
}

/** The change that loaded workflows made to those that are known. See decision 39. */
export interface SavedWorkflows {
  /** Known until now; no worker at work has them, so their events start nothing any more. */
  removed: string[]
  /** Only other workers at work have them, so their events still start runs. */
  elsewhere: string[]
}
