import type { StorageName } from '../service/storage.ts'
import type { FileFinding, FindingState, KnownFile } from '../service/sweep/judge-file.ts'
import type { SweepState } from '../service/sweep/sweep-state.ts'

/** The sweeps of a storage, and a number that rises with each change. */
export interface KeptSweep {
  account: string
  storage: StorageName
  state: SweepState
  version: number
  /** When the last file was gone that is forgotten by now; null for none. */
  forgottenTo: number | null
}

/** A listed entry, without what the store knows of it. A folder is counted, and never judged. */
export type ListedFile = Pick<KnownFile, 'file' | 'path' | 'size' | 'createdAt' | 'modifiedAt'> & { isFolder: boolean }

/**
 * Marks on a known file. `arrival` and `departure`: judged, never to be judged again. `gone` at 0:
 * the listing does not have it any more, and nothing is to be told.
 */
export type FileMark = { file: string } & (
  | { kind: 'arrival' | 'departure' }
  | { kind: 'present'; sweep: number }
  | { kind: 'gone'; at: number }
)

/** Everything that is saved with a state, in the same commit. */
export interface SweepChange {
  marks?: readonly FileMark[]
  findings?: readonly FileFinding[]
  /** Gives the findings of the state `found` another one. */
  settle?: { state: FindingState; held: RepairRequest | null }
}

/** The approval that findings wait for. */
export interface RepairRequest {
  why: string
  needs: number
  now: number
  expiresAt: number
}

/** Selects findings; every part narrows. */
export interface FindingQuery {
  account?: string
  storage?: StorageName
  type?: string
  states?: readonly FindingState[]
  approval?: string
  /** Found since then. */
  since?: number
  limit: number
}

/** Files of a storage that were counted. */
export interface FileCounts {
  /** Not gone. */
  known: number
  /** First seen after the baseline and since the moment, and those of which an event told. */
  arrived: number
  arrivedReported: number
  /** Proven to be gone since then, and those of which an event told. */
  gone: number
  goneReported: number
}
