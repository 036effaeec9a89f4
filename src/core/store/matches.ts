import type { EventRecord } from '../incoming/event.ts'
import type { Lease } from '../runs/lease.ts'
import type { MatchBatch, MatchCursor, MatchResult, NumberedEvent } from '../runs/matching.ts'
import type { EventWait } from '../runs/wait.ts'

export interface MatchWrites {
  /**
   * Names the events that end the run. False, and the run is canceled, when one of them is known to
   * have come.
   */
  watchRun(lease: Lease, cancels: readonly EventWait[], now: number): Promise<boolean>
  /**
   * Begins to match events for a key, from the oldest wait for it on; for a process whose functions
   * are new.
   */
  openMatchCursor(watch: Pick<MatchCursor, 'type' | 'name' | 'version'>, now: number): Promise<void>
  /**
   * Keeps the keys of a batch of events, resolves what waited for them, and moves the cursors on.
   */
  saveMatches(batch: MatchBatch, now: number): Promise<MatchResult>
}

export interface MatchReads {
  /** The event that a step waited for; null: none has come so far. */
  findMatch(runId: string, key: string): Promise<EventRecord | null>
  /** The keys that somebody waits for, in any version, and the number of the newest event. */
  listMatchCursors(): Promise<{ cursors: MatchCursor[]; newest: number }>
  /** Events numbered after `after` up to `upTo`, of these types (null: of all), in order. */
  listEventsAfter(query: { after: number; upTo: number; types: readonly string[] | null }): Promise<NumberedEvent[]>
}
