import {
  boundsAt,
  PRUNE_KINDS,
  type Prunable,
  type PruneKind,
  type Retention,
} from '../../../src/core/store/retention.ts'
import type { Store } from '../../../src/core/store/store.ts'

/** The forecast of a prune of one kind; by default, everything is counted. */
export function countPrunable(
  store: Store,
  kind: PruneKind,
  { before, now = before, limit = 100_001 }: { before: number; now?: number; limit?: number },
): Promise<Prunable> {
  const never = Object.fromEntries(PRUNE_KINDS.map((each) => [each, null])) as Retention
  return store.countPrunable({ kind, bounds: { ...boundsAt(never, now), [kind]: before }, now, limit })
}
