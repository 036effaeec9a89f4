import { matchType } from './event.ts'

/**
 * Says that events of a type (or pattern) start a workflow. Data, so that receiving needs no author
 * code.
 */
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
