import type { Harm } from '../runs/blame.ts'
import type { Lease } from '../runs/lease.ts'
import type { RunName } from '../runs/run.ts'

/** The runs of dead workers, and their fate. */
export interface Recovery {
  /** All of them; each has lost its lease. */
  count: number
  /** Those that are tried alone, because they may have ended their workers. */
  suspects: RunName[]
  /** Those that have, and wait for a person. */
  parked: (RunName & { reason: string })[]
}

export interface WorkerWrites {
  /** Registers a worker. Its process holds a lock until it ends, however it ends. */
  startWorker(worker: string, now: number): Promise<void>
  /** Records that a worker is alive. */
  beatWorker(worker: string, now: number): Promise<void>
  /**
   * Takes the runs of dead workers, and blames them: see `decideBlame`. A worker is dead when its
   * process is. A store without process locks goes by silence, for `leaseMs` or a time of its own.
   */
  recoverRuns(now: number, leaseMs: number): Promise<Recovery>
  /** The same for one worker whose engine has ended while its process lives on. */
  endWorker(worker: string, harm?: Harm | null): Promise<Recovery>
  /** Releases a worker's runs and removes it. */
  stopWorker(worker: string): Promise<void>
}

export interface WorkerReads {
  /** The valid leases of a worker. A run that is missing was canceled or taken over. */
  listLeases(worker: string): Promise<Omit<Lease, 'worker'>[]>
}
