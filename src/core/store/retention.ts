/**
 * The kinds of rows that retention removes. A run goes with everything attached, and an event loses
 * its body only.
 */
export const PRUNE_KINDS = [
  'runs',
  'failures',
  'refusals',
  'deliveries',
  'payloads',
  'audit',
  'effects',
  'files',
] as const

export type PruneKind = (typeof PRUNE_KINDS)[number]

/** Age at which each kind is removed, in milliseconds; null: never. */
export type Retention = Record<PruneKind, number | null>

/** Nothing is ever removed. */
export const KEEP_ALL = Object.fromEntries(PRUNE_KINDS.map((kind) => [kind, null])) as Record<PruneKind, null>

export interface PruneSlice {
  kind: PruneKind
  /** Older than this moment, in epoch milliseconds. */
  before: number
  /** The present moment, for the ledger and what events told of files. Default `before`. */
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

export function boundsAt(retention: Retention, now: number): PruneBounds {
  const boundOf = (kind: PruneKind) => (retention[kind] === null ? null : now - retention[kind])
  return Object.fromEntries(PRUNE_KINDS.map((kind) => [kind, boundOf(kind)])) as PruneBounds
}

/** Kinds of rows that a store may keep in weeks: failures are runs, refusals are deliveries. */
export const WEEK_KINDS = ['runs', 'deliveries', 'payloads'] as const

export type WeekKind = (typeof WEEK_KINDS)[number]

/** The moment before which a week has to end to go at once; null: it never goes. */
export function weekBoundOf(kind: WeekKind, { runs, deliveries, refusals, payloads }: PruneBounds): number | null {
  if (kind === 'payloads') return payloads
  if (kind === 'runs') return runs
  return deliveries === null || refusals === null ? null : Math.min(deliveries, refusals)
}

/** The moment from which on a week that ends at `to` is over its age; null: never. */
export function weekGoesAt(kind: WeekKind, to: number, retention: Retention): number | null {
  const bound = weekBoundOf(kind, boundsAt(retention, 0))
  return bound === null ? null : to - bound
}

/** Rows of a kind that are counted before a prune; of more, only that there are more is known. */
export const MAX_COUNTED = 100_000

/** Asks how much of a kind a prune would remove. */
export interface PruneQuestion {
  kind: PruneKind
  /** Those of all kinds: a week goes when all that it holds is old enough. */
  bounds: PruneBounds
  now: number
  /** Most rows to read. */
  limit: number
}

/** The forecast of a prune for a kind, as far as the read went. */
export interface Prunable {
  /** Runs, deliveries, bodies or rows. */
  rows: number
  /** False: the read ended at its limit, and there may be more. */
  isComplete: boolean
  /** Size of the bodies among them; null for other kinds. */
  bytes: number | null
  /** Weeks of the kind that go at once, with their size on disk. Null: its rows go one by one. */
  weeks: { count: number; bytes: number } | null
}
