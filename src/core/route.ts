import { matchType } from './event.ts'

/** Says that events of a type (or pattern) start a workflow. Data, so that receiving needs no author code. */
export interface Route {
  eventType: string
  workflow: string
}

/** Ids of the workflows that an event of `type` starts, each once, in the order of the routes. */
export function planRuns(type: string, routes: readonly Route[]): string[] {
  return [...new Set(routes.filter((route) => matchType(route.eventType, type)).map((route) => route.workflow))]
}
