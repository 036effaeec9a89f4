import type { StorageName } from './storage.ts'

/** A file or folder of a storage, as section 2.1 of the service's specification describes it. */
export interface FileEntry {
  /** The storage that holds it. */
  service: StorageName
  /** Unique within its storage; a moved file keeps it. */
  id: string
  /** Last part of the path. */
  name: string
  /** A folder has no size and no bytes. */
  type: 'file' | 'folder'
  /** Media type, such as `text/plain`; null for folders. */
  mimeType: string | null
  /** Bytes; null for folders. */
  size: number | null
  /** Absolute, with a leading `/`. */
  path: string
  /** ISO 8601 in UTC; null where the service sent none. */
  createdAt: string | null
  /** ISO 8601 in UTC; null where the service sent none. */
  modifiedAt: string | null
}

/** An entry with the details that only `files.get` returns. */
export interface FileDetails extends FileEntry {
  /** Address of a page that shows the file; null where the service sent none. */
  webViewLink: string | null
  /** Address of a preview image; null where the service sent none. */
  thumbnailUrl: string | null
  /** Owner as the service names it; null where it sent none. */
  owner: string | null
  /** True when others have access; null where the service did not say. */
  shared: boolean | null
}

/** Names a file. Ids are unique only within a storage, so both parts are needed. */
export interface FileRef {
  /** The storage that holds it. */
  service: StorageName
  /** Id from an entry or an event. */
  id: string
}

/**
 * A file to read, such as a listed entry. The more is known of it, the more its bytes can be
 * checked against.
 */
export type Downloadable = FileRef & {
  /** Bytes. Without it, the entry is read first. */
  size?: number | null
  /** ISO 8601 in UTC. */
  modifiedAt?: string | null
  /** Media type, such as `text/plain`. */
  mimeType?: string | null
  /** Last part of the path. */
  name?: string | null
}

/** The place of an entry: its id, or its path where no id is known. One of the two is required. */
export interface FilePlace {
  /** The storage to search. */
  service: StorageName
  /** Used first, when it is neither null nor left out. */
  id?: string | null
  /** Absolute, with a leading `/`; used without an id. */
  path?: string
}

/** Fingerprint of a file's bytes. */
export interface FileHash {
  /** SHA-256 as 64 hexadecimal digits. */
  sha256: string
  /** Length of the file in bytes. */
  bytes: number
  /**
   * `size`: the service's own record of the file has this length. `none`: the service names no size
   * of it, so these may be the bytes of an error page.
   */
  proof: 'size' | 'none'
}
