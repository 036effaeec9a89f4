/**
 * The kinds of rows that retention removes. A run goes with everything attached, and an event loses
 * its body only.
 */
export const PRUNE_KINDS = ['runs', 'failures', 'refusals', 'deliveries', 'payloads', 'audit', 'effects'] as const

export type PruneKind = (typeof PRUNE_KINDS)[number]

/** Age at which each kind is removed, in milliseconds; null: never. */
export type Retention = Record<PruneKind, number | null>

/** One small commit of pruning. */
export interface PruneSlice {
  kind: PruneKind
  /** Older than this moment, in epoch milliseconds. */
  before: number
  /** The present moment, for the ledger rows that tell of it. Default `before`. */
  now?: number
  /** Most rows to read or remove. */
  limit: number
  /** The `next` of the slice before; null at first. */
  after: string | null
}

export interface PruneProgress {
  /** Runs, deliveries, bodies or rows that this slice removed. */
  pruned: number
  /** Position of the next slice; null: nothing is left. */
  next: string | null
}

/** The moment before which each kind is removed, in epoch milliseconds; null: never. */
export type PruneBounds = Retention

/** Rows of a week that went at once; of large tables, a guess. Empty: its rows go one by one. */
export type PrunedWeek = Partial<Record<PruneKind, number>>

export interface RetentionWrites {
  /** Removes rows older than the bound, in one small commit. */
  prune(slice: PruneSlice): Promise<PruneProgress>
  /**
   * Removes the oldest week of runs, deliveries or bodies once all of it is older than the bounds.
   * Null: none is left, or the store keeps no weeks. `prune` removes what stays of it.
   */
  pruneWeek(bounds: PruneBounds, now: number): Promise<PrunedWeek | null>
}
