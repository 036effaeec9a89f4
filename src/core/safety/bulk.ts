import type { EventRecord } from '../incoming/event.ts'
import type { EventSearch } from '../incoming/event-search.ts'
import { planRuns, type Route } from '../incoming/route.ts'
import type { RunFilter } from '../runs/run.ts'
import type { Operator } from './audit.ts'

/** Operations that can be performed on all runs of a filter. */
export const RUN_BULK_KINDS = ['cancel', 'retry', 'resume'] as const
/** All operations: also new runs of all events of a filter. */
export const BULK_KINDS = [...RUN_BULK_KINDS, 'replay'] as const
export type BulkKind = (typeof BULK_KINDS)[number]

/** `counting`: nothing is done yet. `done` and `aborted` are final. */
export const BULK_STATUSES = ['counting', 'running', 'done', 'aborted'] as const
export type BulkStatus = (typeof BULK_STATUSES)[number]

/** An operation, as a person started it. */
interface StartedBulk {
  /** `opr_…` */
  id: string
  /** The person, whose name every audit row of it bears. */
  operator: Operator
  /** Runs or events per second at most; null: the default pace of the kind. */
  perSecond: number | null
  /** Only counts: what would be done, and how many effects would happen again. */
  isDryRun: boolean
  /** Epoch milliseconds. */
  createdAt: number
}

/** An operation on all runs of a filter. */
export interface RunBulkPlan extends StartedBulk {
  kind: (typeof RUN_BULK_KINDS)[number]
  /** Frozen: `before` keeps out runs made after the start. */
  filter: RunFilter
}

/** New runs of all events of a filter, in the order of their arrival. */
export interface ReplayPlan extends StartedBulk {
  kind: 'replay'
  /** Frozen: `until` keeps out events received after the start. */
  filter: EventSearch
  /** Frozen, too: the workflows that run, by type of event. */
  routes: readonly Route[]
}

export type BulkPlan = RunBulkPlan | ReplayPlan

/** The result of counting, added up slice by slice. */
export interface BulkCount {
  /** Runs or events that the filter selects and that the operation fits. */
  total: number
  /** Of a replay: the new runs. */
  runs: number
  /** Steps of a dry run's runs that would happen again, by effect. */
  writes: number
  deletes: number
  /** Ids of the first runs or events, at most 10. */
  first: string[]
}

interface BulkState {
  status: BulkStatus
  count: BulkCount
  /** Position of the next slice; null at the beginning of counting and of running. */
  cursor: string | null
  done: number
  refused: number
  /** Epoch milliseconds; null while it goes on. */
  endedAt: number | null
}

/** An operation with its progress. */
export type BulkOperation = BulkPlan & BulkState

/** A run or an event that an operation did not fit. */
export interface BulkRefusal {
  target: string
  why: string
}

/** The workflows that a replay starts for an event; none where the event is no part of it. */
export function planReplay({ type }: Pick<EventRecord, 'type'>, { routes }: Pick<ReplayPlan, 'routes'>): string[] {
  return planRuns(type, routes)
}

/** Why an event cannot be replayed; null: it can. */
export function findReplayObstacle({ body }: Pick<EventRecord, 'body'>): string | null {
  return body === '' ? 'its body is pruned' : null
}

/** Runs or events per commit. */
export const BULK_SLICE = 100
/** Refusals whose reasons are kept; all are counted. */
export const MAX_REFUSALS = 1_000
/** An operation whose process is silent for this long is taken over by another one. */
export const BULK_SILENCE_MS = 10_000
/** Default pace of what makes work for the workers, in runs or events per second. */
const WORK_PER_SECOND = 100
/** Shortest pause between two slices. */
const MIN_PAUSE_MS = 50

/** The pause after a slice, in milliseconds. */
export function decidePause({ kind, perSecond }: Pick<BulkPlan, 'kind' | 'perSecond'>, targets: number): number {
  const pace = perSecond ?? (kind === 'cancel' ? Infinity : WORK_PER_SECOND)
  return Math.max(MIN_PAUSE_MS, Math.ceil((targets * 1_000) / pace))
}
