import type { LimiterState } from './limiter-store.ts'

/** A log of the last 61 s that never exceeds the limit stays inside it under every way of counting a minute. */
export const WINDOW_MS = 61_000

/** A probe that has not reported back by then is taken for lost, with the process that sent it. */
const PROBE_LOST_MS = 60_000

/** How often others look whether the probe has come back. */
const PROBE_LOOK_MS = 1_000

export type StartDecision = { kind: 'start'; isProbe: boolean } | { kind: 'wait'; until: number }

/** Whether a request may start now, and the state after it has. `limit` is in requests per minute. */
export function decideStart(
  state: LimiterState,
  { now, limit }: { now: number; limit: number },
): { state: LimiterState; result: StartDecision } {
  // A clock set back leaves starts in the future, which must not block longer than a window.
  const starts = state.starts.map((at) => Math.min(at, now)).filter((at) => at > now - WINDOW_MS)
  const current = { ...state, starts }
  if (state.blockedUntil > now) return { state: current, result: { kind: 'wait', until: state.blockedUntil } }
  if (state.probeSince !== null && Math.abs(now - state.probeSince) < PROBE_LOST_MS) {
    return { state: current, result: { kind: 'wait', until: now + PROBE_LOOK_MS } }
  }
  if (starts.length >= limit)
    return { state: current, result: { kind: 'wait', until: predictStart(current, { now, limit, ahead: 0 }) } }
  const isProbe = state.blockedUntil > 0
  const started = { ...current, starts: [...starts, now], probeSince: isProbe ? now : null }
  return { state: started, result: { kind: 'start', isProbe } }
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

/** The state after the probe: open if it was answered, to be probed again if it got lost on the way. */
export function probedState(state: LimiterState, isAnswered: boolean): LimiterState {
  return { ...state, blockedUntil: isAnswered ? 0 : state.blockedUntil, probeSince: null }
}

/** The state without its last start, which nobody was left to use. */
export function unstartedState(state: LimiterState): LimiterState {
  return { ...state, starts: state.starts.slice(0, -1), probeSince: null }
}
