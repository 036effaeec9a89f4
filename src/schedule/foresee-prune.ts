import {
  boundsAt,
  MAX_COUNTED,
  PRUNE_KINDS,
  type Prunable,
  type PruneKind,
  type Retention,
} from '../core/store/retention.ts'
import type { Store } from '../core/store/store.ts'
import type { Clock } from '../core/time.ts'

/** The forecast of a prune, by kind; null: the kind is kept for ever. */
type PruneForecast = Record<PruneKind, Prunable | null>

interface ForecastParts {
  store: Pick<Store, 'countPrunable'>
  clock: Clock
  /** Maximum age of each kind in milliseconds; null: for ever. */
  retention: Retention
}

/** Counts what `pruneStore` would remove now. Between two kinds, other reads have their turn. */
export async function foreseePrune({ store, clock, retention }: ForecastParts): Promise<PruneForecast> {
  const now = clock.now()
  const bounds = boundsAt(retention, now)
  const forecast: Partial<PruneForecast> = {}
  for (const kind of PRUNE_KINDS) {
    const isKept = bounds[kind] === null
    forecast[kind] = isKept ? null : await store.countPrunable({ kind, bounds, now, limit: MAX_COUNTED + 1 })
  }
  return forecast as PruneForecast
}
