/** A person's verdict on a kind of failure. Times are epoch milliseconds. */
export interface FailureState {
  /** Id of the kind; see `groupFailure`. */
  group: string
  kind: 'resolved' | 'snoozed'
  note: string | null
  /** The person, as the audit log names them. */
  by: string
  at: number
  /** End of a snooze; null for a resolution. */
  until: number | null
}

/**
 * A resolved kind opens again with the next failure, a snoozed one with the end of its time.
 * `left`: failed runs of it that are not resolved, by default 1; without any, it is resolved.
 */
export function decideFailureState(
  state: FailureState | null,
  { lastAt, now, left = 1 }: { lastAt: number; now: number; left?: number },
): 'open' | FailureState['kind'] {
  if (left === 0) return 'resolved'
  if (state === null) return 'open'
  const holds = state.kind === 'resolved' ? lastAt <= state.at : now < (state.until ?? 0)
  return holds ? state.kind : 'open'
}
