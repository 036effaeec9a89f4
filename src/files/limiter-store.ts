/** Who goes first when requests queue for the service's limit. */
export type Priority = 'interactive' | 'workflow' | 'background'

/** What every process that uses one key has to agree on. Plain data: it is stored as JSON. */
export interface LimiterState {
  /** Epoch milliseconds of the starts of the last window, oldest first. */
  starts: readonly number[]
  /** No request before this moment; 0 when open. */
  blockedUntil: number
  /** Since when one probe is out after a block; null when none is. */
  probeSince: number | null
  /** Requests per minute as the service named them; null until it did. */
  limit: number | null
}

export const OPEN_STATE: LimiterState = { starts: [], blockedUntil: 0, probeSince: null, limit: null }

/**
 * Keeps the limiter's state per key. A store that writes to a database shared by processes must read and write in one
 * transaction: two processes that read the same state would both take the last place.
 */
export interface LimiterStore {
  /** Replaces the state of `key` (a fingerprint) by what `decide` makes of it ({@link OPEN_STATE} at first); gives back its `result`. */
  change<T>(key: string, decide: (state: LimiterState) => { state: LimiterState; result: T }): Promise<T>
}

/** State of one process, gone with it. */
export function memoryLimiterStore(): LimiterStore {
  const states = new Map<string, LimiterState>()
  return {
    async change(key, decide) {
      const { state, result } = decide(states.get(key) ?? OPEN_STATE)
      states.set(key, state)
      return result
    },
  }
}

export type Plan = keyof typeof PLANS

/** The lower of the two figures that the service gives for each plan. */
const PLANS = { free: 60, pro: 60, enterprise: 300 } as const

/** Requests per minute of a plan, or as a person who knows better said. */
export function planLimit(plan: Plan | number): { perMinute: number; isFinal: boolean } {
  if (typeof plan === 'number') return { perMinute: Math.max(1, Math.floor(plan)), isFinal: true }
  return { perMinute: PLANS[plan], isFinal: false }
}
