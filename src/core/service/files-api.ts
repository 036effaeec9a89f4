import type { Caller } from '../notices.ts'
import type { RetryOptions } from '../runs/retry.ts'
import type { Effect } from '../runs/step.ts'
import type { Asked, FileBefore, FileState } from '../safety/effect.ts'
import type { FolderCount } from '../safety/folders.ts'
import type { Duration } from '../time.ts'
import type { Downloadable, FileDetails, FileEntry, FileHash, FilePlace, FileRef } from './file.ts'
import type { StorageName } from './storage.ts'

/** Selects one page of a storage's entries. */
export interface ListQuery {
  /** The storage to list. */
  service: StorageName
  /** Folder, absolute, with a leading `/`. Default `/`. */
  path?: string
  /** True: entries of all folders below, too. Default false. */
  recursive?: boolean
  /** Counted from 1. Default 1. */
  page?: number
  /** Entries per page, 1 to 100. Default 100. */
  limit?: number
  /**
   * `createdAt`, `modifiedAt`, `name` or `size`, with a leading `-` for descending order. Default
   * `-createdAt`.
   */
  sort?: string
}

/** One page of entries. */
export interface Page {
  /** Entries in the order of the query. */
  items: FileEntry[]
  /** Number of the next page; null on the last one. */
  nextPage: number | null
  /** Entries on all pages; null where the service did not say. */
  totalItems: number | null
}

/** All entries of a folder, read before anything is done with them. */
export interface Snapshot {
  /** Entries, oldest first, each id once. */
  items: FileEntry[]
  /** True only where it is proven that no entry is missing. If false, an absent entry may exist. */
  complete: boolean
  /** Why it is not known to be complete; null when it is. */
  reason: IncompleteReason | null
}

/**
 * Why a snapshot may lack entries.
 *
 * `max`: there are more entries than `max`. `unverified`: several pages were read once, with
 * `verify: false`. `changed`: entries came or went during each of three readings. `totals`: the
 * service counts other entries than it lists. `repeated`: a page held only entries of earlier ones.
 */
export type IncompleteReason = 'max' | 'unverified' | 'changed' | 'totals' | 'repeated'

/** Options of `snapshot`. */
export interface SnapshotOptions {
  /** Bound of the entries. Default 50,000. */
  max?: number
  /**
   * True: a listing of several pages is read twice and compared. An entry that goes meanwhile
   * shifts others out of sight. Default true.
   */
  verify?: boolean
}

/** A downloaded file on this machine. The journal keeps this description, never the bytes. */
export interface DownloadedFile {
  /** Absolute path of the file. */
  path: string
  /** Length in bytes. */
  bytes: number
  /** SHA-256 as 64 hexadecimal digits. */
  sha256: string
  /** First byte that this download fetched: later than 0 when it continued an earlier part. */
  resumedFrom: number
  /** As in {@link FileHash}: whether the service's record of the file has this length. */
  proof: 'size' | 'none'
}

/** A temporary address of a file's bytes, which needs no key. */
export interface DownloadUrl {
  /** Hidden in logs and JSON: `reveal()` returns the text. */
  url: { reveal(): string }
  /** Epoch milliseconds; null where the service did not say. */
  expiresAt: number | null
}

/** Conditions of a delete. */
export interface DeleteOptions {
  /**
   * Deletes only while the entry still has this path, date and size. Parts that are null or left
   * out are not compared.
   *
   * Pass the entry that you looked at. A moved file keeps its id, date and size: only `path` shows
   * the move.
   */
  expect?: { path?: string; modifiedAt?: string | null; size?: number | null }
  /** Allows the deletion of a folder with everything in it. Default false. */
  allowFolder?: boolean
}

/** The result of a delete, and how it is known. */
export type DeleteOutcome = {
  /**
   * `deleted`: the service confirmed it. `already_gone`: it was there before, or an earlier attempt
   * may have deleted it. `not_found`: it was never seen. `changed`: it no longer fits `expect` and
   * stays. `dry_run`: nothing was sent.
   */
  outcome: 'deleted' | 'already_gone' | 'not_found' | 'changed' | 'dry_run'
  /** `reply`: from the service's answer. `verified`: from a look afterwards. `none`: not at all. */
  proof: 'reply' | 'verified' | 'none'
}

/** Options of `deleteAll`. */
export interface DeleteAllOptions {
  /**
   * The listing that the files were chosen from. It must be complete. A share of the guard counts
   * what the run itself has listed in the folders of the files.
   */
  of?: Snapshot
}

/** Files of a list, by what became of them. */
export interface DeletedFiles {
  /** Deleted by this call. */
  deleted: FileEntry[]
  /** No longer as given, so they stay. */
  changed: FileEntry[]
  /** Not there any more: somebody else deleted them, or an earlier attempt did. */
  gone: FileEntry[]
}

/** Limits of one call. Inside a run they are the options of its step. */
export interface CallLimits {
  /** How often and how soon the call is retried. Default: the workflow's `retry`. */
  retry?: RetryOptions
  /** Longest time for one attempt. Default: the workflow's `timeout.step`, else 5m. */
  timeout?: Duration
}

/** One call of the Files API, as the journal records it. */
export interface FileCall {
  operation: 'list' | 'find' | 'get' | 'downloadUrl' | 'download' | 'hash' | 'delete'
  effect: Effect
  /** The storage and the id or path, such as `storage_a:fil_1` or `storage_a:/reports`. */
  target: string
  /** False for a result that holds a secret: it is not kept, and a replay asks again. */
  keep: boolean
  limits: CallLimits
  /** For a delete: facts about the file. */
  facts?: CallFacts
}

/** The facts that a run knows of a file that it deletes. */
export interface CallFacts {
  /** The state in which the run saw it; null where it has not read it. */
  asked: Asked | null
  /** The state that its author requires; null without one. */
  expect: FileState | null
  /** Files that the run has listed in each folder above a path; null: of the whole storage. */
  listedAbove(path: string | null): FolderCount[]
  /** Reads its present state; null: there is no such file. */
  look(signal: AbortSignal): Promise<Asked | null>
  /** True where a folder may go, with everything in it: a person decides that. */
  isFolderAllowed: boolean
  /** Equal for the deletes of one list, which begin together or not at all; with their number. */
  list?: { files: number }
}

/** The word that lets a delete begin. */
export interface DeletePermit {
  /** The state in which a person approved it; null where nobody had to. */
  expect: Asked | null
  /** True where an earlier attempt may have sent it. */
  isRepeated: boolean
  /** Called before each request that deletes; it throws where a stop has come meanwhile. */
  beforeSend?: () => Promise<void>
  /** Called with the state that the delete's look found, before its request. */
  onSeen?: (before: FileBefore) => void
}

/** One attempt of a call. A wrapper hands it on whole. */
export interface CallAttempt {
  /** Ends the attempt. */
  signal: AbortSignal
  /** The attempt of a step that the call belongs to; left out outside a run. */
  caller?: Caller | undefined
  /** The word that lets a delete begin. */
  permit?: DeletePermit | undefined
}

/** Performs a client's calls in its own way: inside a run, as steps. */
export type WrapCall = <T>(call: FileCall, perform: (attempt: CallAttempt) => Promise<T>) => Promise<T>

/** The query of a listing that reads every page. */
type Collection = Omit<ListQuery, 'page' | 'limit' | 'sort'>

/**
 * The Files API of the service. Each call inside a run is a durable step, named `files.<operation>`
 * and keyed by its target.
 *
 * Calls are limited to what the account's plan allows, and retried as the service says. Errors are
 * `FilesError` outside a run, `StepError` inside.
 */
export interface FilesApi {
  /** One page of entries, newest first unless `sort` says otherwise. */
  list(query: ListQuery, options?: CallLimits): Promise<Page>
  /**
   * Every entry, oldest first, each id once. Each page is a call of its own, so entries may change
   * meanwhile.
   */
  iterate(query: Collection, options?: CallLimits): AsyncIterable<FileEntry>
  /**
   * Every entry, with all pages read first. Look at `complete` before you act on what is absent.
   *
   * Delete from a snapshot, never while iterating: deleting shifts the pages.
   */
  snapshot(query: Collection, options?: CallLimits & SnapshotOptions): Promise<Snapshot>
  /**
   * The entry as it is now; null when the service proves that there is none. A path is searched for
   * among the entries of its folder.
   *
   * Fails when two entries have the path, and when the folder cannot be read to a proven end.
   */
  find(place: FilePlace, options?: CallLimits): Promise<FileEntry | null>
  /** One entry with its details. Fails when the service has none with this id. */
  get(file: FileRef, options?: CallLimits): Promise<FileDetails>
  /**
   * A temporary address of the file's bytes. It works like a key, so no journal keeps it: a replay
   * asks for a new one.
   */
  downloadUrl(file: FileRef, options?: CallLimits): Promise<DownloadUrl>
  /**
   * Writes the bytes to the file `to`, atomically, and creates its folder. An interrupted download
   * continues where it stopped.
   */
  download(file: Downloadable, options: CallLimits & { to: string }): Promise<DownloadedFile>
  /**
   * SHA-256 and length of the bytes as they are now; the bytes are not kept. Null when the service
   * proves that there is no such file.
   *
   * Two equal hashes prove equal files only where both have the proof `size`.
   */
  hash(file: Downloadable, options?: CallLimits): Promise<FileHash | null>
  /**
   * Deletes one entry for good, after a look at it. A folder needs `allowFolder`.
   */
  delete(file: FileRef, options?: CallLimits & DeleteOptions): Promise<DeleteOutcome>
  /**
   * Deletes many files, each only while it is as given. Inside a run one permit covers the list.
   * Nothing is deleted before the guard, or a person, has granted all of it.
   *
   * Each delete is a step `files.delete[…]`. One that fails for good is thrown once the others end.
   */
  deleteAll(files: Iterable<FileEntry>, options?: CallLimits & DeleteAllOptions): Promise<DeletedFiles>
}
