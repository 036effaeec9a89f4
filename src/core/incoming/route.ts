import { UpshotError } from '../errors.ts'
import { matchType } from './event.ts'

/** Events of this type start this workflow. Data, so that the receiver loads no author code. */
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

/** The routes to these workflows, or all. Throws `conflict` where one of them has none. */
export function pickRoutes(routes: readonly Route[], workflows: readonly string[] | undefined): Route[] {
  const unknown = workflows?.find((id) => !routes.some(({ workflow }) => workflow === id))
  const picked = routes.filter(({ workflow }) => workflows === undefined || workflows.includes(workflow))
  if (unknown === undefined && picked.length > 0) return picked
  const what = unknown === undefined ? 'No workflow runs' : `The workflow "${unknown}" does not run`
  throw new UpshotError('conflict', `${what} on events now.`, {
    details: { fix: 'See which types start which workflows: upshot workflows list' },
  })
}

/** The refusal of a delivery whose endpoints or routes have changed since it was planned. */
export function describeStalePlan(deliveryId: string): UpshotError {
  const message = `Endpoints or routes changed while delivery ${deliveryId} was read. Plan it again.`
  return new UpshotError('stale_plan', message)
}
