import type { Failure } from '../errors.ts'
import type { Lease } from '../runs/lease.ts'
import type { Checkpoint, PackedOutput } from '../runs/step.ts'
import type { Progress } from '../runs/told/progress.ts'
import type { KeptLogLine, RunLogLine } from '../runs/told/run-log.ts'
import type { Tags } from '../runs/told/tags.ts'
import type { SavedWithStep } from '../runs/wait.ts'

/** One failed attempt of a step. */
export interface StepFailure {
  key: string
  /** Counted from 1. */
  attempt: number
  /** Epoch milliseconds. */
  at: number
  error: Failure
}

export interface JournalWrites {
  /**
   * Adds or updates a step of the run's journal, together with everything in `savedWith`. `failure`
   * is appended to the step's failed attempts.
   */
  saveCheckpoint(lease: Lease, checkpoint: Checkpoint, failure?: StepFailure, savedWith?: SavedWithStep): Promise<void>
  /** Adds or changes tags of the run, where no step follows that they are written with. */
  saveTags(lease: Lease, tags: Tags): Promise<void>
  /** Replaces the run's word for how far it has come. */
  saveProgress(lease: Lease, progress: Progress): Promise<void>
  /** Adds log lines of runs. The newest `RUN_LOG_LINES` of each run stay. */
  saveRunLog(lines: readonly RunLogLine[]): Promise<void>
}

export interface JournalReads {
  /** Log lines of a run, oldest first. */
  listRunLog(runId: string): Promise<KeptLogLine[]>
  /**
   * The journal of a run, in the order in which its steps began. Results above `inlineBytes`, and
   * those stored apart, are replaced by their size.
   */
  listSteps(runId: string, inlineBytes?: number): Promise<Checkpoint[]>
  /**
   * JSON text of a step's result, or of the run's output when `key` is null. `not_found` where
   * there is none.
   */
  readOutput(runId: string, key: string | null): Promise<string>
  /** Compresses JSON text that is too large for a row; writes nothing. */
  packOutput(json: string): Promise<PackedOutput>
  /** Failed attempts of a run's steps, oldest first. */
  listStepFailures(runId: string): Promise<StepFailure[]>
  /** Steps of an account's runs that deleted one of these targets, or were about to. */
  listDeletes(account: string, targets: readonly string[]): Promise<Checkpoint[]>
}
