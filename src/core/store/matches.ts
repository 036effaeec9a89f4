import type { EventRecord } from '../incoming/event.ts'
import type { Lease } from '../runs/lease.ts'
import type { MatchBatch, MatchCursor, MatchResult, NumberedEvent } from '../runs/matching.ts'
import type { EventWait } from '../runs/wait.ts'

export interface MatchWrites {
  /**
   * Registers the events that cancel a run. False, and the run is canceled, when one of them has
   * already been matched.
   */
  watchRun(lease: Lease, cancels: readonly EventWait[], now: number): Promise<boolean>
  /**
   * Starts matching events for a key, from its oldest wait on; called when a process has new key
   * functions.
   */
  openMatchCursor(cursor: Pick<MatchCursor, 'type' | 'name' | 'version'>, now: number): Promise<void>
  /**
   * Saves the keys of a batch, wakes and cancels the runs that waited for them, and advances the
   * cursors.
   */
  saveMatches(batch: MatchBatch, now: number): Promise<MatchResult>
}

export interface MatchReads {
  /** The event that resolved a step's wait; null: none so far. */
  findMatch(runId: string, key: string): Promise<EventRecord | null>
  /** The keys that a wait needs, in every version, and the number of the newest event. */
  listMatchCursors(): Promise<{ cursors: MatchCursor[]; newest: number }>
  /** Events numbered above `after` and up to `upTo`, in order; `types` null: of every type. */
  listEventsAfter(query: { after: number; upTo: number; types: readonly string[] | null }): Promise<NumberedEvent[]>
}
