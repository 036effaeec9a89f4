import type { RunFilter } from '../runs/run.ts'
import type { Operator } from './audit.ts'

/** Operations that can be performed on all runs of a filter. */
export const BULK_KINDS = ['cancel', 'retry', 'resume'] as const
export type BulkKind = (typeof BULK_KINDS)[number]

/** `counting`: nothing is done yet. `done` and `aborted` are final. */
export const BULK_STATUSES = ['counting', 'running', 'done', 'aborted'] as const
export type BulkStatus = (typeof BULK_STATUSES)[number]

/** An operation on many runs, as a person started it. */
export interface BulkPlan {
  /** `opr_…` */
  id: string
  kind: BulkKind
  /** Frozen: `before` keeps out runs made after the start. */
  filter: RunFilter
  /** The person, whose name every audit row of it bears. */
  operator: Operator
  /** Runs per second at most; null: as fast as one slice per 50 ms. */
  perSecond: number | null
  /** Only counts: what would be done, and how many effects would happen again. */
  isDryRun: boolean
  /** Epoch milliseconds. */
  createdAt: number
}

/** The result of counting, added up slice by slice. */
export interface BulkCount {
  /** Runs that the filter selects and that the operation fits. */
  total: number
  /** Steps of a dry run's runs that would happen again, by effect. */
  writes: number
  deletes: number
  /** Ids of the first runs, at most 10. */
  first: string[]
}

/** An operation with its progress. */
export interface BulkOperation extends BulkPlan {
  status: BulkStatus
  count: BulkCount
  /** Position of the next slice; null at the beginning of counting and of running. */
  cursor: string | null
  done: number
  refused: number
  /** Epoch milliseconds; null while it goes on. */
  endedAt: number | null
}

/** A run that an operation did not fit. */
export interface BulkRefusal {
  run: string
  why: string
}

/** Runs per commit. */
export const BULK_SLICE = 100
/** Refusals whose reasons are kept; all are counted. */
export const MAX_REFUSALS = 1_000
/** An operation whose process is silent for this long is taken over by another one. */
export const BULK_SILENCE_MS = 10_000
/** Default pace of what makes work for the workers, in runs per second. */
const WORK_PER_SECOND = 100
/** Shortest pause between two slices. */
const MIN_PAUSE_MS = 50

/** The pause after a slice, in milliseconds. */
export function decidePause({ kind, perSecond }: Pick<BulkPlan, 'kind' | 'perSecond'>, runs: number): number {
  const pace = perSecond ?? (kind === 'cancel' ? Infinity : WORK_PER_SECOND)
  return Math.max(MIN_PAUSE_MS, Math.ceil((runs * 1_000) / pace))
}
