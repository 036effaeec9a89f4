import type { StorageName } from '../../core/service/storage.ts'
import { isoTime } from '../../core/time.ts'

/** A file or folder as the index knows it. */
export interface Entry {
  storage: StorageName
  id: string
  /** Absolute within the storage, without a trailing slash. */
  path: string
  parent: string
  name: string
  type: 'file' | 'folder'
  /** Null for folders. */
  size: number | null
  mimeType: string | null
  /**
   * What the file system knows it by: device, inode and moment of birth, so that a rename keeps the
   * id.
   */
  identity: string
  /** How it looked when it was last seen at rest. */
  fingerprint: string
  createdAt: number
  modifiedAt: number
}

/** An entry in the service's primary form: what lists and events carry. */
export interface WireEntry {
  id: string
  name: string
  type: 'file' | 'folder'
  /** Absent on folders. */
  mimeType?: string
  /** Bytes; absent on folders. */
  size?: number
  path: string
  createdAt: string
  modifiedAt: string
}

export function toWireEntry(entry: Entry): WireEntry {
  return {
    id: entry.id,
    name: entry.name,
    type: entry.type,
    ...(entry.mimeType === null ? {} : { mimeType: entry.mimeType }),
    ...(entry.size === null ? {} : { size: entry.size }),
    path: entry.path,
    createdAt: isoTime(entry.createdAt),
    modifiedAt: isoTime(entry.modifiedAt),
  }
}
