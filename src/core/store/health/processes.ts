import type { BrokenModule } from '../../runs/workflow-record.ts'

/** A running process of Upshot. Times are epoch milliseconds. */
export interface ProcessRecord {
  /** Made at its start. */
  id: string
  role: string
  pid: number
  version: string
  /** Address of its admin server on this machine. */
  adminUrl: string
  /** Empty in a process without a receiver. */
  receiverUrl: string
  startedAt: number
  seenAt: number
  /** Modules that it could not load, the first 50. */
  broken: readonly BrokenModule[]
}

/** A process writes its row this often. */
export const PROCESS_BEAT_MS = 10_000
/** A process that is silent for this long counts as gone. */
export const PROCESS_SILENCE_MS = 35_000

export interface ProcessWrites {
  /** Writes the row of a process; removes those that have been silent for a day. */
  beatProcess(process: ProcessRecord): Promise<void>
  removeProcess(id: string): Promise<void>
}

export interface ProcessReads {
  /** Newest first; also those that are silent. */
  listProcesses(): Promise<ProcessRecord[]>
}
