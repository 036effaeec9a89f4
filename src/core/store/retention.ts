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

export interface RetentionWrites {
  /** Removes rows older than the bound, in one small commit. */
  prune(slice: PruneSlice): Promise<PruneProgress>
}
