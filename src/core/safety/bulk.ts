import type { EventRecord } from '../incoming/event.ts'
import type { EventSearch } from '../incoming/event-search.ts'
import type { Route } from '../incoming/route.ts'
import { RUN_OPERATIONS, type RunFilter, type RunOperation } from '../runs/run.ts'
import type { Operator } from './audit.ts'

/** All that a person does with the runs of a filter, and new runs of the events of a filter. */
export const BULK_KINDS = [...RUN_OPERATIONS, 'replay'] as const
type BulkKind = (typeof BULK_KINDS)[number]

/** `counting`: nothing is done yet. `done` and `aborted` are final. */
export const BULK_STATUSES = ['counting', 'running', 'done', 'aborted'] as const
export type BulkStatus = (typeof BULK_STATUSES)[number]

interface StartedBulk {
  /** `opr_…` */
  id: string
  /** The person, whose name every audit row of it bears. */
  operator: Operator
  /** Runs or events per second at most; null: the default pace of the kind. */
  perSecond: number | null
  /** Epoch milliseconds. */
  createdAt: number
}

export interface RunBulkPlan extends StartedBulk {
  kind: RunOperation
  /** Frozen: `before` keeps out runs made after the start. */
  filter: Omit<RunFilter, 'statuses'>
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

export type BulkOperation = BulkPlan & BulkState

/** A run or an event that an operation did not fit. */
export interface BulkRefusal {
  target: string
  why: string
}

/** The runs that an operation is about. Others of its filter are neither done nor refused. */
const ABOUT: Readonly<Record<RunOperation, RunFilter>> = {
  cancel: { statuses: ['pending', 'running', 'waiting'] },
  retry: { statuses: ['failed', 'canceled'] },
  resume: { waitsForPerson: true },
  restart: { waitsForPerson: true },
  resolve: { resolved: false },
  unresolve: { resolved: true },
}

/** The filter of an operation, narrowed to the runs that it is about. */
export function narrowFilter({ kind, filter }: Pick<RunBulkPlan, 'kind' | 'filter'>): RunFilter {
  return { ...ABOUT[kind], ...filter }
}

/** Why an event cannot be replayed; null: it can. */
export function findReplayObstacle({ body }: Pick<EventRecord, 'body'>): string | null {
  return body === '' ? 'its body is pruned' : null
}

/** Most runs or events per commit. */
const MAX_SLICE = 100
/** Refusals whose reasons are kept; all are counted. */
export const MAX_REFUSALS = 1_000
/** An operation whose process is silent for this long is taken over by another one. */
export const BULK_SILENCE_MS = 10_000
/** Kinds that make work for the workers, and their default pace in runs or events per second. */
const MAKES_WORK: readonly BulkKind[] = ['retry', 'resume', 'restart', 'replay']
const WORK_PER_SECOND = 100
/** Shortest pause between two slices. */
const MIN_PAUSE_MS = 50

/**
 * Runs or events of one commit: those of a second at most. After a longer pause its process would
 * count as silent.
 */
export function decideSlice({ perSecond }: Pick<BulkPlan, 'perSecond'>): number {
  return Math.min(MAX_SLICE, Math.max(1, Math.floor(perSecond ?? MAX_SLICE)))
}

/** The pause after a slice, in milliseconds. */
export function decidePause({ kind, perSecond }: Pick<BulkPlan, 'kind' | 'perSecond'>, targets: number): number {
  const pace = perSecond ?? (MAKES_WORK.includes(kind) ? WORK_PER_SECOND : Infinity)
  return Math.max(MIN_PAUSE_MS, Math.ceil((targets * 1_000) / pace))
}
