import type { CronTrigger } from '../runs/schedule.ts'
import { matchType } from './event.ts'

/** Says that events of a type (or pattern) start a workflow. Data, so that receiving needs no author code. */
export interface Route {
  eventType: string
  workflow: string
  /** Of its runs, until they have been looked at; default 0. */
  priority?: number
}

/** Ids of the workflows that an event of `type` starts, each once, in the order of the routes. */
export function planRuns(type: string, routes: readonly Route[]): string[] {
  return [...new Set(routes.filter((route) => matchType(route.eventType, type)).map((route) => route.workflow))]
}

/** The priorities of new runs, by workflow; those at 0 are left out. */
export function planPriorities(workflows: readonly string[], routes: readonly Route[]): Record<string, number> {
  const ranked = routes.filter(({ workflow, priority }) => priority !== undefined && workflows.includes(workflow))
  return Object.fromEntries(ranked.map(({ workflow, priority = 0 }) => [workflow, priority]))
}

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
