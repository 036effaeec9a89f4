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

/**
 * The longest pause that a reply causes. One that means milliseconds would stop a key for days;
 * after an hour, one request asks again.
 */
export const MAX_BLOCK_MS = 3_600_000

/** The longest pause by which refused probes grow. */
const MAX_GROWN_MS = 60_000

/** A probe without a report for this long is lost; its process may have died. */
const PROBE_LOST_MS = 60_000

/** How often waiting requests check whether the probe has reported. */
const PROBE_CHECK_MS = 1_000

/** The clocks of two processes differ by no more. */
export const CLOCKS_DIFFER_MS = 5_000

type StartDecision =
  /** The first requests take `count` starts now. */
  { kind: 'start'; at: number; count: number; isProbe: boolean } | { kind: 'wait'; until: number }

interface StartsDecided {
  /** The same object as before when no request starts. */
  state: LimiterState
  /** That state without the starts that no longer count. */
  known: LimiterState
  decision: StartDecision
}

/** Decides how many starts are taken now. `wanted` has those of each request, in their order. */
export function decideStarts(
  state: LimiterState,
  { now, allowance, wanted }: { now: number; allowance: Allowance; wanted: readonly number[] },
): StartsDecided {
  const limit = allowance.starts
  const current = stateAt(state, { now, allowance })
  const { starts, blockedUntil } = current
  // The corrected moments are saved, or each later decision would count them from its own `now`.
  const isClockBack = blockedUntil < state.blockedUntil || (state.starts.at(-1) ?? 0) > now + CLOCKS_DIFFER_MS
  const wait = (until: number) => ({
    state: isClockBack ? current : state,
    known: current,
    decision: { kind: 'wait', until } as const,
  })
  if (blockedUntil > now) return wait(blockedUntil)
  if (isProbeOut(state, now)) return wait(now + PROBE_CHECK_MS)
  const isProbe = blockedUntil > 0
  const first = isProbe ? 1 : (wanted[0] ?? 1)
  if (starts.length + first > limit) return wait(predictStart(current, { now, allowance, ahead: first - 1 }))
  const count = isProbe ? Math.min(wanted.length, 1) : countFitting(wanted, limit - starts.length)
  const decision = { kind: 'start', at: now, count, isProbe: isProbe && count > 0 } as const
  if (count === 0) return { state, known: current, decision }
  const started = {
    ...current,
    starts: [...starts, ...Array<number>(count).fill(now)].sort((a, b) => a - b),
    probeSince: isProbe ? now : null,
  }
  return { state: started, known: started, decision }
}

/** The starts of the first requests for which there is room. */
function countFitting(wanted: readonly number[], room: number): number {
  let count = 0
  for (const each of wanted) {
    if (count + each > room) break
    count += each
  }
  return count
}

/**
 * The state with the starts that still count. A clock that was set back since leaves moments too
 * far ahead. Such starts count from `now`, and such a block lasts for the longest time.
 */
export function stateAt(
  { starts, blockedUntil, ...state }: LimiterState,
  { now, allowance }: { now: number; allowance: Allowance },
): LimiterState {
  const isAhead = (at: number, most: number) => at > now + most + CLOCKS_DIFFER_MS
  return {
    ...state,
    starts: starts.map((at) => (isAhead(at, 0) ? now : at)).filter((at) => at > now - allowance.windowMs),
    blockedUntil: isAhead(blockedUntil, MAX_BLOCK_MS) ? now + MAX_BLOCK_MS : blockedUntil,
  }
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

/**
 * The state after a 429: no request starts before `until`, and then only one probe. Each probe that
 * is refused in its turn doubles the shortest pause. A server that says "in a second" for ever
 * would else keep a slot busy for each waiting run.
 */
export function blockedState(
  state: LimiterState,
  { until, isProbe, now }: { until: number; isProbe: boolean; now: number },
): LimiterState {
  const refusedProbes = (state.refusedProbes ?? 0) + (isProbe ? 1 : 0)
  const grownMs = refusedProbes === 0 ? 0 : Math.min(MAX_GROWN_MS, 1_000 * 2 ** refusedProbes)
  return {
    ...state,
    blockedUntil: Math.max(state.blockedUntil, until, now + grownMs),
    probeSince: null,
    refusedProbes,
  }
}

/** The state after a probe: open if it was answered, otherwise ready for another probe. */
export function probedState(state: LimiterState, isAnswered: boolean): LimiterState {
  const opened = isAnswered ? { blockedUntil: 0, refusedProbes: 0 } : {}
  return { ...state, ...opened, probeSince: null }
}

/**
 * The state without `count` starts of the moment `at`, which no request used. A probe among them
 * has not started.
 */
export function unstartedState(state: LimiterState, { at, count }: { at: number; count: number }): LimiterState {
  let unused = count
  const starts = state.starts.filter((start) => start !== at || unused-- <= 0)
  return { ...state, starts, probeSince: state.probeSince === at ? null : state.probeSince }
}

/**
 * The state in which a start that was kept since `at` counts from `now`. Null where it counts no
 * longer, or the key is blocked: its request has to wait like others.
 */
export function usedState(state: LimiterState, { at, now }: { at: number; now: number }): LimiterState | null {
  if (state.blockedUntil > 0 || !state.starts.includes(at)) return null
  const rest = unstartedState(state, { at, count: 1 })
  return { ...rest, starts: [...rest.starts, now].sort((a, b) => a - b) }
}
