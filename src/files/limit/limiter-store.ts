/** Who goes first when requests queue for the service's limit. */
export type Priority = 'interactive' | 'workflow' | 'background'

/** What every process that uses one key has to agree on. Plain data: it is stored as JSON. */
export interface LimiterState {
  /**
   * Epoch milliseconds of the starts of the last window, oldest first; of those taken ahead, when
   * they end.
   */
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
 * Keeps the state of each key (a fingerprint) where all find it who use the key. Two that read the
 * same state must not both replace it: both would take the last place.
 */
export interface LimiterStore {
  /**
   * Null where a key has no state yet. Asked before each request, so it should cost no more than a
   * read.
   */
  load(key: string): Promise<{ state: LimiterState; version: number } | null>
  /**
   * Replaces the state that had this version (0: none); false when another one has been saved
   * since.
   */
  save(key: string, state: LimiterState, version: number): Promise<boolean>
}

/** State of one process, gone with it. */
export function memoryLimiterStore(): LimiterStore {
  const states = new Map<string, { state: LimiterState; version: number }>()
  return {
    load: async (key) => states.get(key) ?? null,
    async save(key, state, version) {
      if ((states.get(key)?.version ?? 0) !== version) return false
      states.set(key, { state, version: version + 1 })
      return true
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
