import { isWhole, type SweepPlan } from './sweep-plan.ts'
import type { CompleteSweep, SweepState } from './sweep-state.ts'

/** A file that a sweep saw. */
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
  /** When the first one did, in epoch milliseconds. */
  firstSeenAt: number
  /** When the service said that there is no such file; null while it may be there. */
  goneAt: number | null
  /** 1 for a folder, which is never judged. */
  isFolder: number
}

/** Distance that the clocks of the service and of this app may have. */
const CLOCKS_MS = 5 * 60_000

/** The last event of a type whose file could not be told. */
export interface UnreadEvents {
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
