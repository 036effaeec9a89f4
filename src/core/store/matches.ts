import type { EventRecord } from '../incoming/event.ts'
import type { Hook, HookAnswer, HookReceipt, HookRecord } from '../incoming/hook.ts'
import type { Lease } from '../runs/lease.ts'
import type { MatchBatch, MatchCursor, MatchResult } from '../runs/matching.ts'
import type { EventWait } from '../runs/wait.ts'

/** Events of a stream, numbered above `after` and up to `upTo`; `types` null: of every type. */
export interface EventRange {
  stream: number
  after: number
  upTo: number
  types: readonly string[] | null
}

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
  /** The keys that a wait needs, in every version, and the newest event's number by stream. */
  listMatchCursors(): Promise<{ cursors: MatchCursor[]; newest: ReadonlyMap<number, number> }>
  /** Events of a stream in order. */
  listEventsAfter(query: EventRange): Promise<EventRecord[]>
}

export interface HookWrites {
  /** The key of the tokens of all hooks, as text. The first call makes it. */
  loadHookKey(): Promise<string>
  /**
   * Saves an answer as an event, with its delivery, and wakes the runs that wait for it. Throws
   * `conflict` for a person whose answer is not taken.
   */
  answerHook(answer: HookAnswer): Promise<HookReceipt>
}

export interface HookReads {
  /** With its secret, for the receiver. */
  findHook(id: string): Promise<(HookRecord & Pick<Hook, 'sign'>) | null>
  /** The hooks of a run, those that its fork kept included, in the order of their steps. */
  listHooks(runId: string): Promise<HookRecord[]>
}
