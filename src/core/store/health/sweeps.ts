import type { SentEvent } from '../../runs/wait.ts'
import type { StorageName } from '../../service/storage.ts'
import type {
  FileBook,
  FileEvent,
  FileFinding,
  FindingKey,
  FindingState,
  KnownFile,
} from '../../service/sweep/judge-file.ts'
import type { ListedPage, SweepState } from '../../service/sweep/sweep-state.ts'

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
  settle?: { state: FindingState; held: SweepHold | null }
}

/** The approval that findings wait for. */
export interface SweepHold {
  why: string
  needs: number
  now: number
  expiresAt: number
}

/** Selects known files to be judged, and those that the listing does not have any more. */
export interface SuspectQuery {
  account: string
  storage: StorageName
  /** Id of the file before the first; empty at first. */
  after: string
  /** Most files that are read. */
  limit: number
  /** Files first seen after this sweep, and not after that moment. */
  arrivedAfter: number
  seenUntil: number
  /** Files last seen before this sweep; 0: none. */
  lastBefore: number
  /** Files that were gone by then. */
  goneUntil: number
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
  arrivedTold: number
  /** Proven to be gone since then, and those of which an event told. */
  gone: number
  goneTold: number
}

/** A slice of the files to be counted. */
export interface CountQuery {
  account: string
  storage: StorageName
  /** Id of the file before the first; empty at first. */
  after: string
  /** Most files that are read. */
  limit: number
  baseline: number
  since: number
}

export interface SweepWrites {
  /** Compare-and-set: replaces the state of `version`, 0 for none. False: another was first. */
  saveSweep(kept: KeptSweep, change?: SweepChange): Promise<boolean>
  /**
   * Marks the entries of a page as seen, and moves the state behind the page in the same commit.
   * Returns the new state; null where the stored one has another version.
   */
  savePage(kept: KeptSweep, page: ListedPage, files: readonly ListedFile[], now: number): Promise<KeptSweep | null>
  /** Compare-and-set of the book, with the events that were read. It also links late events. */
  saveFileBook(book: FileBook, version: number, events: readonly FileEvent[]): Promise<boolean>
  /** Gives findings of one state another one; false where one is in another state by now. */
  moveFinding(key: FindingKey, from: FindingState, to: FindingState, reason: string | null): Promise<boolean>
  /**
   * Saves the made-up event of a `due` finding and its runs. False where the finding is not due any
   * more, or an event of its file was matched meanwhile.
   */
  makeUpEvent(key: FindingKey, event: SentEvent): Promise<boolean>
}

export interface SweepReads {
  loadSweep(account: string, storage: StorageName): Promise<KeptSweep | null>
  listSweeps(): Promise<KeptSweep[]>
  /** Known files to be judged, in the order of ids; `next` is null at the end. */
  listSuspects(query: SuspectQuery): Promise<{ files: KnownFile[]; next: string | null }>
  /** Counts a slice of the known files; `next` is null at the end. */
  countFiles(query: CountQuery): Promise<FileCounts & { next: string | null }>
  /** The files among these of which an event of the type told. */
  listToldFiles(query: {
    account: string
    storage: StorageName
    type: string
    files: readonly string[]
  }): Promise<string[]>
  /** Whether a delete of ours reached one of these targets, or may have. */
  hasOwnDelete(account: string, targets: readonly string[]): Promise<boolean>
  loadFileBook(): Promise<{ book: FileBook; version: number } | null>
  findFinding(key: FindingKey): Promise<FileFinding | null>
  /** Newest first. */
  listFindings(query: FindingQuery): Promise<FileFinding[]>
}
