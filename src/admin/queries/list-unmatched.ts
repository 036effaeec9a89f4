import type { UnmatchedTally } from '../../core/incoming/delivery.ts'
import { matchType } from '../../core/incoming/event.ts'
import { planRuns, type Route } from '../../core/incoming/route.ts'
import { MAX_TYPES } from '../../core/service/shapes/shape-book.ts'
import type { ReadStore } from '../../core/store/store.ts'

interface Unmatched extends UnmatchedTally {
  /** True where a run waits for such events, or did in the last 24 hours. */
  isAwaited: boolean
}

/** Accepted events of types that no workflow starts on today, the most frequent type first. */
export async function listUnmatched(
  store: Pick<ReadStore, 'listRoutes' | 'tallyUnmatched' | 'listMatchCursors'>,
): Promise<Unmatched[]> {
  const routes = (await store.listRoutes()) ?? []
  const { cursors } = await store.listMatchCursors()
  return (await store.tallyUnmatched())
    .filter(({ type }) => planRuns(type, routes).length === 0)
    .map((tally) => ({ ...tally, isAwaited: cursors.some((cursor) => matchType(cursor.type, tally.type)) }))
}

/** Routes of types of which no event came yet. None where too few or too many types are known. */
export async function listSilent(store: Pick<ReadStore, 'listRoutes' | 'loadShapeBook'>): Promise<Route[]> {
  const types = Object.keys((await store.loadShapeBook())?.book.types ?? {})
  if (types.length === 0 || types.length >= MAX_TYPES) return []
  const routes = (await store.listRoutes()) ?? []
  return routes.filter(({ eventType }) => !types.some((type) => matchType(eventType, type)))
}
