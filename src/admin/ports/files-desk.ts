import type { Downloadable, FileDetails, FileEntry, FileRef } from '../../core/service/file.ts'
import type { StorageName } from '../../core/service/storage.ts'

/** A page of a folder to list. */
interface FolderPage {
  storage: StorageName
  path: string
  limit: number
  /** Number of the page, counted from 1. */
  page: number
  /** The service's token of the page, where it gave one. */
  token: string | null
}

/** A file to delete, in the state in which a person saw it, and the person. */
interface RemovalByHand {
  account: string
  file: FileRef & { path: string; size: number | null; modifiedAt: string | null }
  actor: string
  reason: string | null
}

/**
 * The Files API for people, with the key of an account and under its limit. It throws only
 * `UpshotError`.
 */
export interface FilesDesk {
  list(
    account: string,
    page: FolderPage,
    signal: AbortSignal,
  ): Promise<{ items: FileEntry[]; next: { page: number; token: string | null } | null; total: number | null }>
  get(account: string, file: FileRef, signal: AbortSignal): Promise<FileDetails>
  /** The bytes of a file, also over broken connections and expired addresses. */
  stream(account: string, file: Downloadable, signal: AbortSignal): AsyncIterable<Uint8Array>
  /** Deletes a file that is unchanged, with its rows in the ledger; obeys stops. */
  remove(removal: RemovalByHand): Promise<{
    outcome: 'deleted' | 'already_gone' | 'not_found' | 'changed' | 'dry_run' | 'failed' | 'stopped'
    error: string | null
  }>
}
