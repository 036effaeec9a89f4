import type { Allowance, KeyLimit, LimiterState } from './limiter-store.ts'

/**
 * The limiter keeps to the limit in every 61 s, so in every minute however the service counts it.
 */
export const WINDOW_MS = 61_000

/** The starts that a limit allows. A burst gets a longer window with as many starts. */
export function allowanceOf({ burst }: Pick<KeyLimit, 'burst'>, perMinute: number): Allowance {
  const starts = Math.max(perMinute, burst ?? 0)
  return { starts, windowMs: Math.ceil((WINDOW_MS * starts) / perMinute) }
}

/** A probe without a report for this long is lost; its process may have died. */
const PROBE_LOST_MS = 60_000

/** How often waiting requests check whether the probe has reported. */
const PROBE_CHECK_MS = 1_000

/** The clocks of two processes differ by no more. */
const CLOCKS_DIFFER_MS = 5_000

type StartDecision =
  /** `count` requests start now. */
  { kind: 'start'; at: number; count: number; isProbe: boolean } | { kind: 'wait'; until: number }

interface StartsDecided {
  /** The same object as before when no request starts. */
  state: LimiterState
  /** That state without the starts that no longer count. */
  known: LimiterState
  decision: StartDecision
}

/** Decides how many of the `wanted` requests start now. */
export function decideStarts(
  state: LimiterState,
  { now, allowance, wanted }: { now: number; allowance: Allowance; wanted: number },
): StartsDecided {
  const limit = allowance.starts
  const current = { ...state, starts: recentStarts(state.starts, { now, allowance }) }
  const { starts } = current
  // The corrected starts are saved, or each later decision would count them from its own `now`.
  const isClockBack = (state.starts.at(-1) ?? 0) > now + CLOCKS_DIFFER_MS
  const wait = (until: number) => ({
    state: isClockBack ? current : state,
    known: current,
    decision: { kind: 'wait', until } as const,
  })
  if (state.blockedUntil > now) return wait(state.blockedUntil)
  if (isProbeOut(state, now)) return wait(now + PROBE_CHECK_MS)
  if (starts.length >= limit) return wait(predictStart(current, { now, allowance, ahead: 0 }))
  const isProbe = state.blockedUntil > 0
  const count = Math.min(wanted, isProbe ? 1 : limit - starts.length)
  const decision = { kind: 'start', at: now, count, isProbe: isProbe && count > 0 } as const
  if (count === 0) return { state, known: current, decision }
  const started = {
    ...current,
    starts: [...starts, ...Array<number>(count).fill(now)].sort((a, b) => a - b),
    probeSince: isProbe ? now : null,
  }
  return { state: started, known: started, decision }
}

/** The starts that still count. After a clock was set back, later ones count from `now`. */
function recentStarts(starts: readonly number[], { now, allowance }: { now: number; allowance: Allowance }): number[] {
  return starts.map((at) => (at > now + CLOCKS_DIFFER_MS ? now : at)).filter((at) => at > now - allowance.windowMs)
}

function isProbeOut({ probeSince }: LimiterState, now: number): boolean {
  return probeSince !== null && Math.abs(now - probeSince) < PROBE_LOST_MS
}

/** The earliest start of a request that has `ahead` others before it. */
export function predictStart(
  state: LimiterState,
  { now, allowance, ahead }: { now: number; allowance: Allowance; ahead: number },
): number {
  const { starts: limit, windowMs } = allowance
  const position = state.starts.length + ahead
  const windows = Math.max(0, Math.ceil((position - limit - state.starts.length + 1) / limit))
  const leaving = state.starts[position - limit - windows * limit]
  const earliest = Math.max(now, state.blockedUntil)
  const free = leaving === undefined ? earliest : leaving + windowMs
  return Math.max(earliest, free) + windows * windowMs
}

/** The state after a 429: no request starts before `until`, and then only one probe. */
export function blockedState(state: LimiterState, until: number): LimiterState {
  return { ...state, blockedUntil: Math.max(state.blockedUntil, until), probeSince: null }
}

/** The state after a probe: open if it was answered, otherwise ready for another probe. */
export function probedState(state: LimiterState, isAnswered: boolean): LimiterState {
  return { ...state, blockedUntil: isAnswered ? 0 : state.blockedUntil, probeSince: null }
}

/**
 * The state without `count` starts of the moment `at`: their requests left the queue. A probe among
 * them has not started.
 */
export function unstartedState(state: LimiterState, { at, count }: { at: number; count: number }): LimiterState {
  let unused = count
  return { ...state, starts: state.starts.filter((start) => start !== at || unused-- <= 0), probeSince: null }
}
