import type { IncompleteReason, Page } from '../files-api.ts'
import { type SweepPlan, spacingOf } from './sweep-plan.ts'

/** A listing that came to its end without a fault. */
export interface CompleteSweep {
  number: number
  startedAt: number
  endedAt: number
  /** Entries that it saw, and the files among them. */
  entries: number
  files: number
  /** True: each entry that it saw was there in the next one, too. Null: not known yet. */
  isExact: boolean | null
}

/** The sweeps of a storage: the one under way or the last one, and what earlier ones proved. */
export interface SweepState {
  /** Number of the sweep under way, or of the last one; 0 before the first. */
  number: number
  phase: 'idle' | 'listing' | 'judging'
  /** The listed part; another one begins with a new baseline. */
  scope: { path: string; recursive: boolean }
  startedAt: number
  /** Page that comes next, and its token where the service gave one. */
  page: number
  token: string | null
  /** Entries that the service last said there are; null where it does not say. */
  total: number | null
  /** Distinct entries and files of this sweep. */
  seen: number
  files: number
  /** Entries of the complete sweep before that this one saw again. */
  kept: number
  /** Pages in a row without a new entry. */
  barren: number
  fault: IncompleteReason | null
  /** Requests in a row that failed. */
  failures: number
  /** Id of the last file that was judged; empty before the first. */
  judged: string
  /** Events that are missing, and files of which that is not known. */
  missing: number
  unclear: number
  /** Number of the first complete sweep of the scope, which accuses nobody; null before its end. */
  baseline: number | null
  /** Newest last, at most {@link KEPT_SWEEPS}. */
  complete: readonly CompleteSweep[]
  /** The last sweep that ended, complete or not. */
  ended: { at: number; fault: string | null } | null
  /** No request before this moment. */
  nextAt: number
  /** The process that sweeps until the moment `leaseUntil`; null for none. */
  owner: string | null
  leaseUntil: number
}

/** Complete sweeps that are remembered: five days of one every six hours. */
const KEPT_SWEEPS = 20

/** Pages in a row without a new entry, after which a listing has no end. */
const MAX_BARREN = 50

/** The state before the first sweep, and after a change of what is listed. */
export function newState({ path, recursive }: SweepPlan, before: SweepState | null): SweepState {
  return {
    number: before?.number ?? 0,
    phase: 'idle',
    scope: { path, recursive },
    startedAt: 0,
    ...FRESH,
    baseline: null,
    complete: [],
    ended: null,
    nextAt: before?.nextAt ?? 0,
    owner: before?.owner ?? null,
    leaseUntil: before?.leaseUntil ?? 0,
  }
}

const FRESH = {
  page: 1,
  token: null,
  total: null,
  seen: 0,
  files: 0,
  kept: 0,
  barren: 0,
  fault: null,
  failures: 0,
  judged: '',
  missing: 0,
  unclear: 0,
} as const

/** A clock may be set back by this much while a sweep goes on. */
const MAX_AHEAD_MS = 60 * 60_000

/** Whether a clock that was far ahead wrote the state, which says nothing about the time by now. */
export function isFromAhead({ startedAt, nextAt }: SweepState, plan: SweepPlan, now: number): boolean {
  return startedAt > now + MAX_AHEAD_MS || nextAt > now + spacingOf(plan, 1) + MAX_AHEAD_MS
}

/** The state at the first page of the next sweep. */
export function beginSweep(state: SweepState, now: number): SweepState {
  return { ...state, ...FRESH, number: state.number + 1, phase: 'listing', startedAt: now }
}

export function isDue(state: SweepState, { everyMs }: Pick<SweepPlan, 'everyMs'>, now: number): boolean {
  return state.number === 0 || state.startedAt === 0 || now >= state.startedAt + everyMs
}

export interface PageCounts {
  /** Entries that this sweep had not seen, and the files among them. */
  fresh: number
  freshFiles: number
  /** Those that the complete sweep before had seen. */
  kept: number
}

/** A page without its entries. `passedOver` counts those that no sweep can keep. */
export type ListedPage = Pick<Page, 'nextPage' | 'totalItems'> & {
  nextToken: string | null
  entries: number
  passedOver: number
}

/** Takes in a page, and decides whether it was the last one. */
export function takePage(state: SweepState, page: ListedPage, counts: PageCounts, now: number): SweepState {
  const seen = state.seen + counts.fresh + page.passedOver
  const total = page.totalItems ?? state.total
  const barren = counts.fresh > 0 ? 0 : state.barren + 1
  // The total falls when an entry goes: those after it move up, perhaps onto a page already read.
  const hasShrunk = (page.totalItems ?? Infinity) < (state.total ?? 0)
  const isRepeated = page.nextToken === null && page.entries > 0 && counts.fresh === 0
  const isEndless = barren >= MAX_BARREN || (page.nextToken !== null && page.nextToken === state.token)
  const fault = state.fault ?? (hasShrunk ? 'changed' : isRepeated || isEndless ? 'repeated' : null)
  const next: SweepState = {
    ...state,
    seen,
    total,
    barren,
    fault,
    failures: 0,
    token: page.nextToken,
    page: state.page + 1,
    files: state.files + counts.freshFiles,
    kept: state.kept + counts.kept,
  }
  const isShort = page.nextToken === null && state.token === null && counts.fresh > 0 && seen < (total ?? 0)
  const goesOn = page.nextToken !== null || page.nextPage !== null || isShort
  return goesOn && !isRepeated && !isEndless ? next : endListing(next, now)
}

/** A listing that cannot be read to its end: it accuses nobody. */
export function cutShort(state: SweepState, fault: string, now: number): SweepState {
  return { ...state, phase: 'idle', ended: { at: now, fault } }
}

function endListing(state: SweepState, now: number): SweepState {
  // Without totals nothing proves that the last page was the last.
  const isProven = state.total !== null && state.total === state.seen
  const fault = state.fault ?? (isProven ? null : 'totals')
  if (fault !== null) return cutShort(state, fault, now)
  const { number, startedAt, seen: entries, files, kept } = state
  const before = state.complete.map((sweep, index) =>
    index === state.complete.length - 1 ? { ...sweep, isExact: kept === sweep.entries } : sweep,
  )
  const ended: CompleteSweep = { number, startedAt, endedAt: now, entries, files, isExact: null }
  return {
    ...state,
    phase: 'judging',
    baseline: state.baseline ?? number,
    complete: [...before, ended].slice(-KEPT_SWEEPS),
    ended: { at: now, fault: null },
  }
}

/** The complete sweep before the one that was just completed; null where there is none. */
export function sweepBefore({ complete }: SweepState): CompleteSweep | null {
  return complete.at(-2) ?? null
}
