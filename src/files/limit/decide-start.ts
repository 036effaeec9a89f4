import type { LimiterState } from './limiter-store.ts'

/**
 * A log of the last 61 s that never exceeds the limit stays inside it under every way of counting a
 * minute.
 */
export const WINDOW_MS = 61_000

/** A probe that has not reported back by then is taken for lost, with the process that sent it. */
const PROBE_LOST_MS = 60_000

/** How often others look whether the probe has come back. */
const PROBE_LOOK_MS = 1_000

/** Starts taken ahead must be used within this time. */
export const SPARE_MS = 5_000

export type StartDecision =
  /** `count` requests start now; `spare` more may, within {@link SPARE_MS}. */
  { kind: 'start'; at: number; count: number; spare: number; isProbe: boolean } | { kind: 'wait'; until: number }

/**
 * How many of the `wanted` requests may start now, and the state after they have: the same one
 * where none does. `known` is that state without what is too old to count. `limit` is in requests
 * per minute, `spare` what is taken ahead if it leaves half of the limit free. A start that was
 * taken ahead counts from the last moment at which it may be used, so that it never counts for too
 * short.
 */
export function decideStarts(
  state: LimiterState,
  { now, limit, wanted, spare }: { now: number; limit: number; wanted: number; spare: number },
): { state: LimiterState; known: LimiterState; decision: StartDecision } {
  const current = { ...state, starts: recentStarts(state.starts, now) }
  const { starts } = current
  // Kept, because who only waits writes nothing else that would bring these back to the present.
  const isAhead = (state.starts.at(-1) ?? 0) > now + SPARE_MS
  const wait = (until: number) => ({
    state: isAhead ? current : state,
    known: current,
    decision: { kind: 'wait', until } as const,
  })
  if (state.blockedUntil > now) return wait(state.blockedUntil)
  if (isProbeOut(state, now)) return wait(now + PROBE_LOOK_MS)
  if (starts.length >= limit) return wait(predictStart(current, { now, limit, ahead: 0 }))
  const isProbe = state.blockedUntil > 0
  const count = Math.min(wanted, isProbe ? 1 : limit - starts.length)
  const decision = { kind: 'start', at: now, count, spare: 0, isProbe: isProbe && count > 0 } as const
  if (count === 0) return { state, known: current, decision }
  const ahead = isProbe ? 0 : Math.max(0, Math.min(spare, Math.floor(limit / 2) - starts.length - count))
  const added = [...Array<number>(count).fill(now), ...Array<number>(ahead).fill(now + SPARE_MS)]
  const started = { ...current, starts: inOrder([...starts, ...added]), probeSince: isProbe ? now : null }
  return { state: started, known: started, decision: { ...decision, spare: ahead } }
}

/**
 * Whether starts that were taken before may still be used: nobody has closed the key or lowered its
 * limit since.
 */
export function isOpen(state: LimiterState, { now, limit }: { now: number; limit: number }): boolean {
  return state.blockedUntil === 0 && state.probeSince === null && recentStarts(state.starts, now).length <= limit
}

/** The state with what became of starts taken ahead; the same state where there are none. */
export function settledStarts(
  state: LimiterState,
  spare: { until: number; left: number; used: readonly number[] } | null,
): LimiterState {
  if (spare === null) return state
  let settling = spare.left + spare.used.length
  const others = state.starts.filter((at) => at !== spare.until || settling-- <= 0)
  return { ...state, starts: inOrder([...others, ...spare.used]) }
}

/**
 * Those that still count. A clock set back leaves starts in the future, which must not count for
 * longer than a window.
 */
export function recentStarts(starts: readonly number[], now: number): number[] {
  return starts.map((at) => (at > now + SPARE_MS ? now : at)).filter((at) => at > now - WINDOW_MS)
}

function inOrder(starts: readonly number[]): number[] {
  return starts.toSorted((a, b) => a - b)
}

function isProbeOut({ probeSince }: LimiterState, now: number): boolean {
  return probeSince !== null && Math.abs(now - probeSince) < PROBE_LOST_MS
}

/** When a request could start that has `ahead` others before it, if nothing else happens. */
export function predictStart(
  state: LimiterState,
  { now, limit, ahead }: { now: number; limit: number; ahead: number },
): number {
  const position = state.starts.length + ahead
  const windows = Math.max(0, Math.ceil((position - limit - state.starts.length + 1) / limit))
  const slot = state.starts[position - limit - windows * limit]
  const earliest = Math.max(now, state.blockedUntil)
  const free = slot === undefined ? earliest : slot + WINDOW_MS
  return Math.max(earliest, free) + windows * WINDOW_MS
}

/** The state after a 429: closed for everyone until `until`, then for all but one probe. */
export function blockedState(state: LimiterState, until: number): LimiterState {
  return { ...state, blockedUntil: Math.max(state.blockedUntil, until), probeSince: null }
}

/**
 * The state after the probe: open if it was answered, to be probed again if it got lost on the way.
 */
export function probedState(state: LimiterState, isAnswered: boolean): LimiterState {
  return { ...state, blockedUntil: isAnswered ? 0 : state.blockedUntil, probeSince: null }
}

/** The state without some of the starts of a moment, which nobody was left to use. */
export function unstartedState(state: LimiterState, { at, count }: { at: number; count: number }): LimiterState {
  let leaving = count
  return { ...state, starts: state.starts.filter((start) => start !== at || leaving-- <= 0), probeSince: null }
}
