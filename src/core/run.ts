import type { Failure } from './errors.ts'
import type { EventRecord } from './event.ts'
import type { Lease } from './lease.ts'

/** `pending`: ready to be claimed. `waiting`: for its moment, or for a person when it has none; `reason` says which. */
export const RUN_STATUSES = ['pending', 'running', 'waiting', 'completed', 'failed', 'canceled', 'skipped'] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

/** One execution of a workflow. */
export interface Run {
  id: string
  workflow: string
  status: RunStatus
  /** Why it waits, was skipped or canceled; null otherwise. */
  reason: string | null
  /** The event that caused it; null for a tick. */
  eventId: string | null
  /** The due moment that caused it; null for an event. */
  tickAt: number | null
  /** Failed passes of its code outside steps. */
  attempt: number
  createdAt: number
  startedAt: number | null
  finishedAt: number | null
  /** When a waiting run goes on; null: when a person says so. */
  dueAt: number | null
  /** JSON text. */
  output: string | null
  error: Failure | null
}

/** A run in the hands of a worker, with what its code needs. */
export interface ClaimedRun {
  lease: Lease
  workflow: string
  attempt: number
  createdAt: number
  /** When its first pass began; its own clock starts here. */
  startedAt: number
  /** True in the first pass: the journal is empty. */
  isFirstPass: boolean
  cause: RunCause
}

export type RunCause =
  | { kind: 'event'; event: EventRecord }
  | { kind: 'tick'; scheduledFor: number; lastRunAt: number | null; missed: number }

/** How one pass through a run ended. */
export type RunOutcome =
  | { kind: 'completed'; output: string }
  | { kind: 'failed'; error: Failure }
  /** Goes on at `dueAt`, or when a person says so (null). */
  | { kind: 'parked'; dueAt: number | null; reason: string }
  /** Its code failed outside a step and is tried again. */
  | { kind: 'retry'; dueAt: number; error: Failure }
  /** Its `where` said no. */
  | { kind: 'skipped'; reason: string }
  /** Handed back because this process stops. */
  | { kind: 'released' }
  /** Taken over, or canceled, while this pass was running: nothing more may be written. */
  | { kind: 'lost' }
