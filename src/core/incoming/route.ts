import { matchType } from './event.ts'

/**
 * Events of this type start this workflow. Stored as data, so that the receiver loads no author
 * code.
 */
export interface Route {
  /** A type, a family such as `file.*`, or `*`. */
  eventType: string
  workflow: string
  /** Priority of new runs until they are admitted; default 0. */
  priority?: number
}

/** Ids of the workflows that an event of `type` starts: each once, in the order of the routes. */
export function planRuns(type: string, routes: readonly Route[]): string[] {
  return [...new Set(routes.filter((route) => matchType(route.eventType, type)).map((route) => route.workflow))]
}

/** Priorities of new runs by workflow; workflows with priority 0 are left out. */
export function planPriorities(workflows: readonly string[], routes: readonly Route[]): Record<string, number> {
  const ranked = routes.filter(({ workflow, priority }) => priority !== undefined && workflows.includes(workflow))
  return Object.fromEntries(ranked.map(({ workflow, priority = 0 }) => [workflow, priority]))
}
