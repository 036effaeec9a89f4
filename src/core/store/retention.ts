/**
 * What retention removes: finished runs with all that hangs on them, ledger rows, and the bodies of
 * events.
 */
export const PRUNE_KINDS = ['runs', 'failures', 'refusals', 'deliveries', 'payloads'] as const

export type PruneKind = (typeof PRUNE_KINDS)[number]

/** How old each kind may get, in milliseconds; null: for ever. */
export type Retention = Record<PruneKind, number | null>

export interface PruneSlice {
  kind: PruneKind
  /** Older than this moment. */
  before: number
  /** Rows that are looked at or removed, at most. */
  limit: number
  /** Where the slice before ended; null at first. */
  after: string | null
}

export interface PruneProgress {
  /** Runs, deliveries or bodies that are gone now. */
  pruned: number
  /** Where to go on; null: there is nothing more. */
  next: string | null
}

export interface RetentionWrites {
  /** Removes what is older than its bound, in one small commit; see {@link PruneSlice}. */
  prune(slice: PruneSlice): Promise<PruneProgress>
}
