import type { FailureState } from '../runs/failures/failure-group.ts'
import type { Resolution } from '../runs/run.ts'
import type { Invocation } from '../runs/wait.ts'
import type { BulkCount, BulkOperation, BulkPlan, BulkRefusal } from '../safety/bulk.ts'

/** The part of a run that a new one takes over. */
export interface Fork {
  /** Keys of finished steps to copy. */
  keys: readonly string[]
  /** A step with a result given by hand, as JSON text; null: none. */
  edited: { key: string; output: string } | null
}

/** A stretch of an operation's runs or events, between two positions of its search. */
export interface BulkSlice {
  id: string
  /** The process that works on it. */
  owner: string
  /** Position of the operation; null at its beginning. */
  after: string | null
  /** Position behind the slice; null: nothing is left. */
  next: string | null
}

export interface BulkProgress {
  done: number
  refused: number
  isOver: boolean
}

export interface OperationReads {
  findBulk(id: string): Promise<BulkOperation | null>
  /** Newest first; `before`: the id of the last one of the page before. */
  listBulks(query: { limit: number; before?: string }): Promise<BulkOperation[]>
  /** The first thousand, in their order. */
  listBulkRefusals(id: string): Promise<BulkRefusal[]>
}

export interface OperationWrites {
  /** Starts an operation; the next process that is free performs it. */
  startBulk(plan: BulkPlan): Promise<void>
  /** False when it is over. */
  abortBulk(id: string, now: number): Promise<boolean>
  /** Takes the oldest operation that no process has worked on for 10 s. */
  claimBulk(owner: string, now: number): Promise<BulkOperation | null>
  /** Saves the count up to `next`; null when the operation is no longer this process's, or over. */
  countBulk(slice: BulkSlice, count: BulkCount, now: number): Promise<BulkOperation | null>
  /**
   * Performs a slice with its audit rows, counts and cursor in one commit. Null, and nothing is
   * done, when the operation is no longer this process's, or over. `targets`: ids of runs, or
   * numbers of events.
   */
  performBulk(slice: BulkSlice & { targets: readonly string[] }, now: number): Promise<BulkProgress | null>
  /** Resolves or snoozes a kind of failure, in place of what was said before. */
  saveFailureState(state: FailureState): Promise<void>
  /** Starts a run of a callable workflow, as `step.invoke` does. False when the id is taken. */
  startRun(start: Invocation): Promise<boolean>
  /**
   * Cancels a run and the runs that it invoked; their workers can write nothing more. The rest of
   * many is canceled by `carryOutDecision`. False when it had finished.
   */
  cancelRun(runId: string, reason: string, now: number): Promise<boolean>
  /**
   * Continues a failed or canceled run from its failed step, under the same id. False in any other
   * state, or where it would end again at once.
   */
  retryRun(runId: string, now: number): Promise<boolean>
  /**
   * Notes that the failure of a run needs nobody any more, until it is retried. False where it has
   * not failed, or is resolved already.
   */
  resolveRun(runId: string, resolution: Resolution): Promise<boolean>
  /** Takes that back. False where the run is not resolved. */
  unresolveRun(runId: string): Promise<boolean>
  /**
   * Continues a run that waits for a person; `fromScratch` first deletes its journal, and
   * `carryOutDecision` cancels what it has invoked. False when it does not wait for a person.
   */
  resumeRun(runId: string, options: { fromScratch: boolean }): Promise<boolean>
  /**
   * Ends the next sleep of a waiting run now, so that the run is due. Returns the step's key, or
   * null where the run does not sleep.
   */
  skipSleep(runId: string, now: number): Promise<string | null>
  /**
   * Creates a run with the same cause, copies of these steps, and perhaps one edited result.
   * Returns its id.
   */
  forkRun(runId: string, fork: Fork, now: number): Promise<string>
}
