import { UpshotError } from '../../core/errors.ts'
import type { Route } from '../../core/incoming/route.ts'
import type { Store } from '../../core/store/store.ts'

/**
 * Throws `not_running` while there are no routes: an event stored without them would start no run.
 * Its sender gets a 503 and tries again.
 */
export async function readRoutes(store: Pick<Store, 'listRoutes'>, setup?: number): Promise<readonly Route[]> {
  const routes = await store.listRoutes(setup)
  if (routes) return routes
  throw new UpshotError('not_running', 'No process has loaded the workflows yet. Start one with the role worker.')
}
