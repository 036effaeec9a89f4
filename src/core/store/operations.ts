/** What a new run takes over from another one. */
export interface Fork {
  /** Finished steps that it takes over. */
  keys: readonly string[]
  /** A step whose result is given by hand, as JSON text. */
  edited: { key: string; output: string } | null
}

export interface OperationWrites {
  /**
   * Ends a run that is not finished yet, at once, with the runs that it invoked: whoever works on
   * them can write no more. False when it had finished.
   */
  cancelRun(runId: string, reason: string, now: number): Promise<boolean>
  /**
   * A failed or canceled run goes on from its failed step, with the same id. False when it is in
   * another state.
   */
  retryRun(runId: string): Promise<boolean>
  /**
   * A run that waits for a person goes on; from scratch, it forgets every step. False when it waits
   * for none.
   */
  resumeRun(runId: string, options: { fromScratch: boolean }): Promise<boolean>
  /**
   * A new run of the same cause with copies of these finished steps, and perhaps a result of our
   * own for one more. Gives its id.
   */
  forkRun(runId: string, fork: Fork, now: number): Promise<string>
}
