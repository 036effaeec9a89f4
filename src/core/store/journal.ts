import type { Failure } from '../errors.ts'
import type { Lease } from '../runs/lease.ts'
import type { Checkpoint, PackedOutput } from '../runs/step.ts'
import type { SavedWithStep } from '../runs/wait.ts'

export interface StepFailure {
  key: string
  attempt: number
  at: number
  error: Failure
}

export interface JournalWrites {
  /**
   * Adds a step to the run's journal or brings it up to date, with all that comes `alongside`;
   * `failure`, one attempt that failed, is appended.
   */
  saveCheckpoint(lease: Lease, checkpoint: Checkpoint, failure?: StepFailure, alongside?: SavedWithStep): Promise<void>
}

export interface JournalReads {
  /**
   * The journal of a run in the order in which its steps began. Results of more than `inlineBytes`
   * are left out, with their size instead; those that lie apart always are.
   */
  listSteps(runId: string, inlineBytes?: number): Promise<Checkpoint[]>
  /**
   * JSON text of a step's result, wherever it lies; of the run's own output for null. `not_found`
   * where there is none.
   */
  readOutput(runId: string, key: string | null): Promise<string>
  /** Compresses JSON text that is too large for a row. Writes nothing. */
  packOutput(json: string): Promise<PackedOutput>
  /** The failed attempts of a run's steps, oldest first. */
  listStepFailures(runId: string): Promise<StepFailure[]>
  /** Steps of an account's runs that deleted, or were to delete, one of these targets. */
  listDeletes(account: string, targets: readonly string[]): Promise<Checkpoint[]>
}
