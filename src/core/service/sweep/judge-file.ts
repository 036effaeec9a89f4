import { findTextFault } from '../../runs/step.ts'
import type { StorageName } from '../storage.ts'
import { FILE_TYPES, type FileType, isWhole, type SweepPlan } from './sweep-plan.ts'
import type { CompleteSweep, SweepState } from './sweep-state.ts'

export interface KnownFile {
  file: string
  path: string
  size: number | null
  /** By the service; epoch milliseconds, null where it names none. */
  createdAt: number | null
  modifiedAt: number | null
  /** Numbers of the first and the last sweep that saw it. */
  firstSweep: number
  lastSweep: number
  /** When the service said that there is no such file; null while it may be there. */
  goneAt: number | null
  /** 1 for a folder, which is never judged. */
  isFolder: number
  /** Not 0: what events told of it may be forgotten by now. */
  isArrivalJudged: number
  isDepartureJudged: number
}

/** Longest id in bytes. An entry of an index has 2,704 in PostgreSQL, with 350 of other words. */
const MAX_ID_BYTES = 2_000

/** Whether sweeps can keep a file of this id. Others are passed over. */
export function canKnow(id: string): boolean {
  return Buffer.byteLength(id) <= MAX_ID_BYTES && findTextFault(id) === null
}

/** Distance that the clocks of the service and of this app may have. */
const CLOCKS_MS = 5 * 60_000

/** The last event of a type whose file could not be told. */
interface UnreadEvents {
  count: number
  lastAt: number
  event: string
}

/**
 * Whether a present file, of which no event told, came while we looked. Text: the reason why that
 * is not known. See decision 77.
 */
export function judgeArrival(
  file: Pick<KnownFile, 'firstSweep' | 'createdAt'>,
  plan: Pick<SweepPlan, 'path' | 'recursive'>,
  { complete }: Pick<SweepState, 'complete'>,
  { unread, forgottenTo }: { unread: UnreadEvents | null; forgottenTo: number | null },
): true | string {
  const before = complete.filter(({ number }) => number < file.firstSweep)
  const last = before.at(-1)
  if (last === undefined) return 'no complete sweep before it is remembered'
  if (unread !== null && unread.lastAt >= last.startedAt) return describeUnread(unread)
  if (file.createdAt !== null && file.createdAt >= last.startedAt + CLOCKS_MS) return true
  if (!isWhole(plan)) return 'it may have been moved here from a folder that is not swept'
  if (forgottenTo !== null && (file.createdAt ?? 0) < forgottenTo + CLOCKS_MS)
    return 'it may have been here before, among files that are forgotten by now'
  if (before.some(({ isExact }) => isExact === true)) return true
  return 'it is older than the sweep before, whose pages may have shifted past it'
}

/** The same for a file that is gone. */
export function judgeDeparture(
  file: Pick<KnownFile, 'lastSweep'>,
  { complete }: Pick<SweepState, 'complete'>,
  unread: UnreadEvents | null,
): true | string {
  const since = lastSeenAt(file, complete)
  return unread !== null && unread.lastAt >= since ? describeUnread(unread) : true
}

function lastSeenAt({ lastSweep }: Pick<KnownFile, 'lastSweep'>, complete: readonly CompleteSweep[]): number {
  return complete.findLast(({ number }) => number <= lastSweep)?.startedAt ?? 0
}

function describeUnread({ count, event }: UnreadEvents): string {
  return `${count.toLocaleString('en')} events name no file that could be read, the last one ${event}`
}

/** More findings of one sweep than this need the word of a person. */
const MAX_AT_ONCE = 50
const MAX_SHARE = 0.05

/** Whether so many missing events look like a broken listing rather than like lost events. */
export function isFlood(missing: number, files: number): boolean {
  return missing > MAX_AT_ONCE || missing > files * MAX_SHARE
}

/** Time for which it is kept at least what an event told of a file. */
const KEPT_MS = 7 * 24 * 60 * 60_000

/** A file that an event told of, as sweeps know it. */
export type JudgedFile = Pick<KnownFile, 'firstSweep' | 'isArrivalJudged' | 'isDepartureJudged'>

/**
 * The fate of a row that is not too new. `drop`: no sweep needs it. `forget`: the same, but a file
 * that comes back looks new. `known`: null where no sweep saw the file; `state`: where none runs.
 */
export function judgeReported(
  { type, at }: Pick<FileEvent, 'type' | 'at'>,
  { known, state }: { known: JudgedFile | null; state: SweepState | null },
  before: number,
): 'keep' | 'drop' | 'forget' {
  if (state === null) return 'drop'
  if (known === null) {
    if (type !== FILE_TYPES.created) return 'drop'
    return at < before ? 'forget' : 'keep'
  }
  if (type === FILE_TYPES.deleted) return known.isDepartureJudged !== 0 ? 'drop' : 'keep'
  return known.isArrivalJudged !== 0 || known.firstSweep <= (state.baseline ?? Infinity) ? 'drop' : 'keep'
}

/**
 * Whether a sweep may need it, whatever is known of the file. Nothing is called lost but what came
 * or went after a sweep that is remembered.
 */
export function isTooNew({ at }: Pick<FileEvent, 'at'>, state: SweepState | null, now: number): boolean {
  if (at >= now - KEPT_MS) return true
  return state !== null && state.number > 0 && at >= (state.complete[0]?.startedAt ?? state.startedAt)
}

/**
 * `found`: by a sweep that has not ended. `missing`: only reported. `unclear`: cannot be known.
 * `held`: waits for an approval. `due`: its event is to be made up. `made`: it is made up.
 * `reported`: the real event came first. `denied`: people said no.
 */
export const FINDING_STATES = ['found', 'missing', 'unclear', 'held', 'due', 'made', 'reported', 'denied'] as const
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

export interface FileEvent {
  account: string
  storage: StorageName
  file: string
  type: string
  event: string
  /** When we received it, in epoch milliseconds. */
  at: number
}
