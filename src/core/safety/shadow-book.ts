import {
  type Differences,
  type Group,
  NO_DIFFERENCES,
  OTHERS,
  SAMPLES,
  type Sample,
  type Unknown,
} from './difference.ts'

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
    found: addDifferences(book.found, found),
  }
}

/** The groups that a book has and an earlier one had not. */
export function newGroups(before: ShadowBook, after: ShadowBook): Group[] {
  const known = new Set(before.found.groups.map(({ key }) => key))
  return after.found.groups.filter(({ key }) => !known.has(key))
}

function addDifferences(one: Differences, other: Differences): Differences {
  return {
    runs: one.runs + other.runs,
    answered: one.answered + other.answered,
    same: one.same + other.same,
    noBody: one.noBody + other.noBody,
    notStarted: one.notStarted + other.notStarted,
    groups: addGroups(one.groups, other.groups),
    cannotSay: addUnknowns(one.cannotSay, other.cannotSay),
    unsteady: newest(other.unsteady, one.unsteady),
    refused: addCalls(one.refused, other.refused),
  }
}

function addGroups(one: readonly Group[], other: readonly Group[]): Group[] {
  const groups = new Map(one.map((group) => [group.key, group]))
  for (const group of other) {
    const key = placeOf(group.key, groups)
    const known = groups.get(key) ?? {
      key,
      count: 0,
      bytes: 0,
      changes: key === OTHERS ? [] : group.changes,
      samples: [],
    }
    groups.set(key, {
      ...known,
      count: known.count + group.count,
      bytes: known.bytes + group.bytes,
      samples: newest(group.samples, known.samples),
    })
  }
  return [...groups.values()].sort(byCount)
}

function addUnknowns(one: readonly Unknown[], other: readonly Unknown[]): Unknown[] {
  const unknowns = new Map(one.map((unknown) => [unknown.question, unknown]))
  for (const { question, count, samples } of other) {
    const place = placeOf(question, unknowns)
    const known = unknowns.get(place)
    unknowns.set(place, {
      question: place,
      count: (known?.count ?? 0) + count,
      samples: newest(samples, known?.samples ?? []),
    })
  }
  return [...unknowns.values()].sort(byCount)
}

function addCalls(one: Differences['refused'], other: Differences['refused']): Differences['refused'] {
  const calls = new Map(one.map(({ call, count }) => [call, count]))
  for (const { call, count } of other) {
    if (calls.has(call) || calls.size < SAMPLES) calls.set(call, (calls.get(call) ?? 0) + count)
  }
  return [...calls].map(([call, count]) => ({ call, count }))
}

function placeOf(key: string, known: ReadonlyMap<string, unknown>): string {
  return known.has(key) || known.size < MAX_GROUPS ? key : OTHERS
}

/** The newest samples: retention takes the oldest runs first. */
function newest(fresh: readonly Sample[], old: readonly Sample[]): Sample[] {
  return [...fresh, ...old].slice(0, SAMPLES)
}

function byCount(one: { count: number }, other: { count: number }): number {
  return other.count - one.count
}
