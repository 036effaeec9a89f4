import type { UnmatchedTally } from '../../../core/incoming/delivery.ts'
import { planRuns } from '../../../core/incoming/route.ts'
import type { ReadStore } from '../../../core/store/store.ts'

/** Types listed by name in one sentence; the others are counted. */
const MAX_NAMED = 5

/** Accepted events of types that no workflow starts on today, the most frequent type first. */
export async function listUnmatched(
  store: Pick<ReadStore, 'listRoutes' | 'tallyUnmatched'>,
): Promise<UnmatchedTally[]> {
  const routes = (await store.listRoutes()) ?? []
  return (await store.tallyUnmatched()).filter(({ type }) => planRuns(type, routes).length === 0)
}

/** Such as `12 events started no workflow: file.moved (10), file.renamed (2)`. */
export function describeUnmatched(unmatched: readonly UnmatchedTally[]): string {
  const total = unmatched.reduce((sum, { events }) => sum + events, 0)
  const named = unmatched.slice(0, MAX_NAMED).map(({ type, events }) => `${type} (${events})`)
  const more = unmatched.length > MAX_NAMED ? [`and ${unmatched.length - MAX_NAMED} other types`] : []
  return `${total} ${total === 1 ? 'event' : 'events'} started no workflow: ${[...named, ...more].join(', ')}`
}
