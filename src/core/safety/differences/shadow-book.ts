import { addDifferences } from './add-differences.ts'
import { type Differences, type Group, NO_DIFFERENCES } from './difference.ts'

/** The differences of a shadow from runs of its workflow. Moments are epoch milliseconds. */
export interface ShadowBook {
  /** The module, within the folder of workflows. */
  file: string
  /** Runs that were made since then are compared. */
  since: number
  /** Runs that were made before this moment have been looked at. */
  followed: number
  /** Ids of runs that had not ended when they were looked at. */
  late: string[]
  /** Runs that were given up: too many were late, or they were pruned. */
  missed: number
  found: Differences
}

/** One more look at the runs. */
interface ShadowLook {
  followed: number
  late: readonly string[]
  missed: number
  found: Differences
}

/** A run is looked at no sooner after it was made: its row may be committed that late. */
export const BEHIND_MS = 5_000
/** Runs that are waited for; the oldest beyond are given up. */
const MAX_LATE = 10_000
/** Groups, and questions, after which all others are one. */
const MAX_GROUPS = 200

/** The book of a shadow before its first look. */
export function beginShadow(file: string, now: number): ShadowBook {
  return { file, since: now, followed: now, late: [], missed: 0, found: NO_DIFFERENCES }
}

/** Whether runs are left that no look has seen. */
export function isBehind({ followed }: ShadowBook, now: number): boolean {
  return followed < now - BEHIND_MS
}

/** The book after a look. */
export function addLook(book: ShadowBook, { followed, late, missed, found }: ShadowLook): ShadowBook {
  const given = Math.max(0, late.length - MAX_LATE)
  return {
    ...{ file: book.file, since: book.since, followed, late: late.slice(given) },
    missed: book.missed + missed + given,
    found: addDifferences(book.found, [found], { groups: MAX_GROUPS, samples: 'last' }),
  }
}

/** The groups that a book has and an earlier one had not. */
export function newGroups(before: ShadowBook, after: ShadowBook): Group[] {
  const known = new Set(before.found.groups.map(({ key }) => key))
  return after.found.groups.filter(({ key }) => !known.has(key))
}
