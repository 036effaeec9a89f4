import type { StorageName } from '../storage.ts'
import type { UnreadEvents } from './judge-file.ts'
import type { FileType } from './sweep-plan.ts'

/**
 * `found`: by a sweep that has not ended. `missing`: only reported. `unclear`: cannot be known.
 * `held`: waits for an approval. `due`: its event is to be made up. `made`: it is made up. `told`:
 * the real event came first. `denied`: people said no.
 */
export const FINDING_STATES = ['found', 'missing', 'unclear', 'held', 'due', 'made', 'told', 'denied'] as const
export type FindingState = (typeof FINDING_STATES)[number]

/** Names a finding: one per file and type. */
export interface FindingKey {
  account: string
  storage: StorageName
  file: string
  type: FileType
}

/** A file of which an event should have told, and none did. */
export interface FileFinding extends FindingKey {
  state: FindingState
  /** Number of the sweep that found it. */
  sweep: number
  foundAt: number
  path: string
  /** The file as it was last seen, as JSON text of an entry. */
  entry: string
  /** Why it is unclear, or why its event is not made up; null otherwise. */
  reason: string | null
  approval: string | null
  /** The event that was made up. */
  event: string | null
  /** The real event, which came later. */
  lateEvent: string | null
}

/** How far events are matched to files, and by which functions of the author. */
export interface FileBook {
  /** By stream, the number of the last event that was read. */
  read: Readonly<Record<number, number>>
  /** By type. */
  types: Readonly<Record<string, { version: string; canMakeUp: boolean }>>
  /** By account and type, joined by a space. */
  unread: Readonly<Record<string, UnreadEvents>>
}

export const EMPTY_BOOK: FileBook = { read: {}, types: {}, unread: {} }

/** The file that a stored event tells of. */
export interface FileEvent {
  account: string
  storage: StorageName
  file: string
  type: string
  event: string
  /** When we received it, in epoch milliseconds. */
  at: number
}
