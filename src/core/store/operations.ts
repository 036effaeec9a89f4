import type { FailureState } from '../runs/failure-state.ts'
import type { Invocation } from '../runs/wait.ts'

/** The part of a run that a new one takes over. */
export interface Fork {
  /** Keys of finished steps to copy. */
  keys: readonly string[]
  /** A step with a result given by hand, as JSON text; null: none. */
  edited: { key: string; output: string } | null
}

export interface OperationWrites {
  /** Resolves or snoozes a kind of failure, in place of what was said before. */
  saveFailureState(state: FailureState): Promise<void>
  /** Starts a run of a callable workflow, as `step.invoke` does. False when the id is taken. */
  startRun(start: Invocation): Promise<boolean>
  /**
   * Cancels a run and the runs that it invoked; their workers can write nothing more. False when it
   * had finished.
   */
  cancelRun(runId: string, reason: string, now: number): Promise<boolean>
  /**
   * Continues a failed or canceled run from its failed step, under the same id. False in any other
   * state, or where it would end again at once.
   */
  retryRun(runId: string, now: number): Promise<boolean>
  /**
   * Continues a run that waits for a person; `fromScratch` first deletes its journal. False when it
   * does not wait for a person.
   */
  resumeRun(runId: string, options: { fromScratch: boolean }): Promise<boolean>
  /**
   * Creates a run with the same cause, copies of these steps, and perhaps one edited result.
   * Returns its id.
   */
  forkRun(runId: string, fork: Fork, now: number): Promise<string>
}
