import type { RetryOptions } from '../runs/retry.ts'
import type { Effect } from '../runs/step.ts'
import type { Duration } from '../time.ts'
import type { FileDetails, FileEntry, FileHash, FilePlace, FileRef } from './file.ts'
import type { StorageName } from './storage.ts'

export interface ListQuery {
  service: StorageName
  /** Default `/`. */
  path?: string
  /** Default false. */
  recursive?: boolean
  /** 1-based. */
  page?: number
  /** 1 to 100; default 100. */
  limit?: number
  /** `createdAt`, `modifiedAt`, `name` or `size`; `-` in front: descending. */
  sort?: string
}

export interface Page {
  items: FileEntry[]
  /** Null on the last page. */
  nextPage: number | null
  /** Null where the service did not say. */
  totalItems: number | null
}

export interface Snapshot {
  items: FileEntry[]
  /** False when `max` cut it short: then it is no ground for deleting anything. */
  complete: boolean
}

/** A file on this machine. Its bytes never enter the journal; this does. */
export interface DownloadedFile {
  path: string
  bytes: number
  /** Hex. */
  sha256: string
  /** Byte from which an earlier part was continued; 0 for a fresh download. */
  resumedFrom: number
}

/** Where a file's bytes can be fetched for a while, without a key. */
export interface DownloadUrl {
  /** Shows itself only when asked to. */
  url: { reveal(): string }
  /** Epoch milliseconds; null where the service did not say. */
  expiresAt: number | null
}

export interface DeleteOptions {
  /**
   * Delete only while the entry still looks like this; a null or missing part is not compared. Pass
   * the entry as it was seen: a file that was moved keeps its id, size and date, and tells itself
   * by its path alone.
   */
  expect?: { path?: string; modifiedAt?: string | null; size?: number | null }
}

/** `proof`: the service's reply, a look afterwards, or nothing. */
export type DeleteOutcome = {
  outcome: 'deleted' | 'already_gone' | 'not_found' | 'changed' | 'dry_run'
  proof: 'reply' | 'verified' | 'none'
}

/**
 * What an author may say about one call: how often it is tried, and how long one try may take.
 * Inside a run this is its step's.
 */
export interface CallLimits {
  retry?: RetryOptions
  timeout?: Duration
}

/** One call of the Files API as the journal sees it. */
export interface FileCall {
  operation: 'list' | 'find' | 'get' | 'downloadUrl' | 'download' | 'hash' | 'delete'
  effect: Effect
  /** Such as `storage_a:fil_1` or `storage_a:/reports`. */
  target: string
  /**
   * False for a result that must not be kept, because it holds a secret: it is asked for again in a
   * replay.
   */
  keep: boolean
  limits: CallLimits
}

/** Performs each call of a client in its own way: inside a run, as a step. */
export type WrapCall = <T>(call: FileCall, perform: (signal: AbortSignal) => Promise<T>) => Promise<T>

type Collection = Omit<ListQuery, 'page' | 'limit' | 'sort'>

/**
 * What an author calls. Inside a run each call is a durable step; outside the same calls go
 * straight to the service.
 */
export interface FilesApi {
  list(query: ListQuery, options?: CallLimits): Promise<Page>
  /** Every entry, oldest first, each id once. Each page is a call of its own. */
  iterate(query: Collection, options?: CallLimits): AsyncIterable<FileEntry>
  /** All pages first: safe to delete from when `complete`. */
  snapshot(query: Collection, options?: CallLimits & { max?: number }): Promise<Snapshot>
  /**
   * The entry as it is now, null when the service says there is none. A path is looked for among
   * the entries of its folder.
   */
  find(place: FilePlace, options?: CallLimits): Promise<FileEntry | null>
  get(file: FileRef, options?: CallLimits): Promise<FileDetails>
  /**
   * A temporary address of the file's bytes. It is as good as a key, so no journal keeps it: a
   * replay asks anew.
   */
  downloadUrl(file: FileRef, options?: CallLimits): Promise<DownloadUrl>
  /** Writes the bytes to `to` (a path of a file), atomically. */
  download(file: FileRef & { size?: number | null }, options: CallLimits & { to: string }): Promise<DownloadedFile>
  /**
   * Reads the bytes as they are now and keeps none of them; null when the service says there is no
   * such file.
   */
  hash(file: FileRef, options?: CallLimits): Promise<FileHash | null>
  delete(file: FileRef, options?: CallLimits & DeleteOptions): Promise<DeleteOutcome>
}
