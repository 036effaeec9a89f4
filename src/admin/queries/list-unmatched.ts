import type { UnmatchedTally } from '../../core/incoming/delivery.ts'
import { matchType } from '../../core/incoming/event.ts'
import { planRuns } from '../../core/incoming/route.ts'
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
