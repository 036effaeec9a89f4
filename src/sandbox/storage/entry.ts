import type { StorageName } from '../../core/service/storage.ts'
import { isoTime } from '../../core/time.ts'

/** A file or folder in the index. */
export interface Entry {
  storage: StorageName
  id: string
  /** Absolute within the storage, without a trailing slash. */
  path: string
  parent: string
  name: string
  type: 'file' | 'folder'
  /** Bytes; null for folders. */
  size: number | null
  /** Null for folders. */
  mimeType: string | null
  /** Device, inode and time of birth. A rename keeps it, and so the id. */
  identity: string
  /** Text of the fingerprint when the entry was last recorded. */
  fingerprint: string
  /** Epoch milliseconds. */
  createdAt: number
  /** Epoch milliseconds. */
  modifiedAt: number
}

/** An entry in the primary form, as lists and events carry it. */
export interface WireEntry {
  id: string
  name: string
  type: 'file' | 'folder'
  /** Absent on folders. */
  mimeType?: string
  /** Bytes; absent on folders. */
  size?: number
  path: string
  /** ISO 8601. */
  createdAt: string
  /** ISO 8601. */
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
