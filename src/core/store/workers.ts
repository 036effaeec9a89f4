export interface WorkerWrites {
  /** Registers a worker. Its process holds a lock until it ends, however it ends. */
  startWorker(worker: string, now: number): Promise<void>
  /** Records that a worker is alive. */
  beatWorker(worker: string, now: number): Promise<void>
  /**
   * Releases the runs of workers whose process is dead; returns how many. A living one has to be
   * silent for `leaseMs` in three calls in a row, because a clock may jump. Below 0, all are dead.
   */
  recoverRuns(now: number, leaseMs: number): Promise<number>
  /** Releases a worker's runs and removes it. */
  stopWorker(worker: string): Promise<void>
}

export interface WorkerReads {
  /** The valid leases of a worker. A run that is missing was canceled or taken over. */
  listLeases(worker: string): Promise<{ runId: string; fence: number }[]>
}
