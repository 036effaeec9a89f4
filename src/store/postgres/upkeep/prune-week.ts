import { setTimeout as sleep } from 'node:timers/promises'
import {
  type PruneBounds,
  type PrunedWeek,
  WEEK_KINDS,
  type WeekKind,
  weekBoundOf,
} from '../../../core/store/retention.ts'
import type { Week } from '../../tables/upkeep/pruning.ts'
import { isPassing } from '../database/postgres-fault.ts'
import type { RunBounds, ScannedRuns, WeekTable } from './week-table.ts'

const WEEK_MS = 7 * 86_400_000
/** The first Monday of 1970, 00:00 UTC. */
const FIRST_MONDAY = 4 * 86_400_000
/** Weeks that are ready before their first row. */
const AHEAD = 4

/** Ends that one statement reads. */
const SCANNED = 20_000
/** A week with more to keep is emptied row by row: so many rows, or this share of them. */
const MAX_KEPT = { rows: 50_000, share: 0.1, always: 1_000 }
/** Runs whose events are looked up while all others wait. */
const MAX_UNFINISHED = 20_000
/** Rows that are copied while all others wait. */
const MAX_COPIED = 50_000
/** Clocks of processes differ by less. A run that ended since may have a moment so far before. */
const MARGIN_MS = 600_000

/** A reader may hold the locks for long: so many tries, with a pause between, in milliseconds. */
const TRIES = 4
const TRY_AGAIN_MS = 500

/** Calls on the weeks, the first of which are repeated where a fault passes. */
interface Weeks {
  read<T>(use: (weeks: WeekTable) => Promise<T>): Promise<T>
  once<T>(use: (weeks: WeekTable) => Promise<T>): Promise<T>
}

/** A week whose runs, deliveries or bodies are all over their age. */
type Due = { from: number; to: number }

/**
 * Makes the next weeks, then removes the oldest week of a kind. Null: nothing is left to remove, or
 * something holds it, so that the next sweep tries again. See decision 79.
 */
export async function pruneWeek(weeks: Weeks, bounds: PruneBounds, now: number): Promise<PrunedWeek | null> {
  for (const kind of WEEK_KINDS) await makeWeeks(weeks, kind, now)
  for (const kind of WEEK_KINDS) {
    const week = findDue(await weeks.read((t) => t.list(kind)), weekBoundOf(kind, bounds))
    const pruned = week === null ? null : await REMOVALS[kind](weeks, week, { bounds, now })
    if (pruned !== null) return pruned
  }
  return null
}

/** Begins the weeks that are missing, from the present one on. */
async function makeWeeks(weeks: Weeks, kind: WeekKind, now: number): Promise<void> {
  const present = now - ((((now - FIRST_MONDAY) % WEEK_MS) + WEEK_MS) % WEEK_MS)
  const latest = (await weeks.read((t) => t.list(kind))).at(-1)?.from ?? 0
  for (let at = present; at <= present + AHEAD * WEEK_MS; at += WEEK_MS) {
    if (at > latest && (await tryAgain(weeks, (t) => t.cut(kind, at))) === null) return
  }
}

function findDue(weeks: readonly Week[], before: number | null): Due | null {
  const oldest = weeks.find(({ from }) => from !== null)
  if (!oldest || oldest.from === null || oldest.to === null || before === null || oldest.to > before) return null
  return { from: oldest.from, to: oldest.to }
}

type Removal = (weeks: Weeks, week: Due, given: { bounds: PruneBounds; now: number }) => Promise<PrunedWeek | null>

const REMOVALS: Record<WeekKind, Removal> = { runs: removeRuns, deliveries: removeDeliveries, payloads: removeBodies }

/** Finds the runs that stay in small reads, since all others wait for the rest. */
async function removeRuns(weeks: Weeks, week: Due, { bounds, now }: { bounds: PruneBounds; now: number }) {
  const scanned = await scanRuns(weeks, week, bounds)
  if (scanned === null) {
    const isKept = await tryAgain(weeks, (t) => t.keep('runs', week.to, MAX_COPIED))
    return isKept === true ? {} : null
  }
  const { runs, failures, kept } = scanned
  const left = await tryAgain(weeks, (t) => t.dropRuns(week.to, kept, now - MARGIN_MS))
  return left === null ? null : { runs, failures }
}

/** Null where much of the week stays. */
async function scanRuns(weeks: Weeks, week: Due, { runs, failures }: RunBounds) {
  const total = { runs: 0, failures: 0, kept: [] as string[] }
  for (let after: string | null = null; ; ) {
    const from: string | null = after
    const scanned: ScannedRuns = await weeks.read((t) =>
      t.scanRuns(week, { runs, failures, after: from, limit: SCANNED }),
    )
    total.runs += scanned.runs
    total.failures += scanned.failures
    total.kept.push(...scanned.kept)
    if (total.kept.length > MAX_KEPT.rows) return null
    if (scanned.next === null) break
    after = scanned.next
  }
  const rows = total.runs + total.failures + total.kept.length
  return total.kept.length > Math.max(MAX_KEPT.always, rows * MAX_KEPT.share) ? null : total
}

async function removeDeliveries(weeks: Weeks, { to }: Due): Promise<PrunedWeek | null> {
  const removed = await tryAgain(weeks, (t) => t.dropDeliveries(to))
  if (removed === null) return null
  return { deliveries: removed.deliveries - removed.refusals, refusals: removed.refusals }
}

async function removeBodies(weeks: Weeks, { to }: Due): Promise<PrunedWeek | null> {
  const removed = await tryAgain(weeks, (t) => t.dropBodies(to, MAX_UNFINISHED))
  return removed === null ? null : { payloads: Math.max(0, removed.bodies - removed.kept) }
}

/** Null where something held the locks at every try. */
async function tryAgain<T>(weeks: Weeks, use: (weeks: WeekTable) => Promise<T>): Promise<T | null> {
  for (let left = TRIES - 1; ; left--) {
    try {
      return await weeks.once(use)
    } catch (error) {
      if (!isPassing(error)) throw error
      if (left === 0) return null
      await sleep(TRY_AGAIN_MS)
    }
  }
}
