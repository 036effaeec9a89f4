import type { StorageName } from './storage.ts'

/** An entry of a storage (section 2.1 of the service's specification), whatever form it came in. */
export interface FileEntry {
  service: StorageName
  id: string
  name: string
  type: 'file' | 'folder'
  /** Null for folders. */
  mimeType: string | null
  /** Bytes; null for folders. */
  size: number | null
  /** Absolute, with a leading `/`. */
  path: string
  /**
   * ISO 8601, UTC; null where the service sent none. Text, so that a checkpoint gives back what it
   * was given.
   */
  createdAt: string | null
  modifiedAt: string | null
}

/** What details add to an entry. */
export interface FileDetails extends FileEntry {
  webViewLink: string | null
  thumbnailUrl: string | null
  owner: string | null
  shared: boolean | null
}

/** Names a file: the service keeps ids unique within a storage only. */
export interface FileRef {
  service: StorageName
  id: string
}

/**
 * Where an entry is, or was when somebody told of it: by its id where that is known, else by its
 * path.
 */
export interface FilePlace {
  service: StorageName
  id?: string | null
  path?: string
}

/** What a file holds, told without keeping it. */
export interface FileHash {
  /** Hex. */
  sha256: string
  bytes: number
}
