/**
 * The kinds of rows that retention removes: finished runs with everything attached, ledger rows,
 * event bodies, and actions of operators.
 */
export const PRUNE_KINDS = ['runs', 'failures', 'refusals', 'deliveries', 'payloads', 'audit'] as const

export type PruneKind = (typeof PRUNE_KINDS)[number]

/** Age at which each kind is removed, in milliseconds; null: never. */
export type Retention = Record<PruneKind, number | null>

/** One small commit of pruning. */
export interface PruneSlice {
  kind: PruneKind
  /** Older than this moment, in epoch milliseconds. */
  before: number
  /** Most rows to read or remove. */
  limit: number
  /** The `next` of the slice before; null at first. */
  after: string | null
}

export interface PruneProgress {
  /** Runs, deliveries or bodies that this slice removed. */
  pruned: number
  /** Position of the next slice; null: nothing is left. */
  next: string | null
}

export interface RetentionWrites {
  /** Removes rows older than the bound, in one small commit. */
  prune(slice: PruneSlice): Promise<PruneProgress>
}
