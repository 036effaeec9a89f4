export interface WorkerWrites {
  /** Makes a worker known; its process holds a lock until it ends, however it ends. */
  startWorker(worker: string, now: number): Promise<void>
  /** Says that a worker is alive. */
  beatWorker(worker: string, now: number): Promise<void>
  /** Takes the runs of dead workers back, to be claimed again; gives their number. */
  recoverRuns(now: number, leaseMs: number): Promise<number>
  /** Hands a worker's runs back and forgets it. */
  stopWorker(worker: string): Promise<void>
}

export interface WorkerReads {
  /** The runs that a worker has a valid lease on: what is missing was canceled or taken over. */
  listLeases(worker: string): Promise<{ runId: string; fence: number }[]>
}
