import type { UnmatchedTally } from '../../core/incoming/delivery.ts'
import { planRuns } from '../../core/incoming/route.ts'
import type { ReadStore } from '../../core/store/store.ts'

/** Accepted events of types that no workflow starts on today, the most frequent type first. */
export async function listUnmatched(
  store: Pick<ReadStore, 'listRoutes' | 'tallyUnmatched'>,
): Promise<UnmatchedTally[]> {
  const routes = (await store.listRoutes()) ?? []
  return (await store.tallyUnmatched()).filter(({ type }) => planRuns(type, routes).length === 0)
}
