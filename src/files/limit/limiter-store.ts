import { UpshotError } from '../../core/errors.ts'
import type { Plan } from '../../core/service/account.ts'
import type { Store } from '../../core/store/store.ts'

/** Order of the requests that wait for the limit: `interactive` first, `background` last. */
export type Priority = 'interactive' | 'workflow' | 'background'

/** The state of one key, on which all its processes agree. Plain data: it is stored as JSON. */
export interface LimiterState {
  /** Starts of the last window in epoch milliseconds, oldest first. */
  starts: readonly number[]
  /** No request may start before this epoch millisecond; 0 when the key is open. */
  blockedUntil: number
  /** Epoch milliseconds at which the one probe after a block started; null when none is out. */
  probeSince: number | null
  /** Probes in a row that were answered 429. Default 0. */
  refusedProbes?: number
  /** Requests per minute as the service named them; null until it does. */
  limit: number | null
}

/** The state of a key that nothing is known about. */
export const OPEN_STATE: LimiterState = { starts: [], blockedUntil: 0, probeSince: null, limit: null }

/** Keeps the state of each key where every process that uses it finds it. */
export interface LimiterStore {
  /**
   * The state of the key with this fingerprint; null when there is none. It is called before each
   * request, so it should cost no more than a read.
   */
  load(key: string): Promise<{ state: LimiterState; version: number } | null>
  /**
   * A compare-and-set: replaces the state of this version, 0 for none. False when another version
   * is stored: of two callers that read one version, one must fail.
   */
  save(key: string, state: LimiterState, version: number): Promise<boolean>
}

/** A store in this process's memory. */
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

/** How many requests may start within a window. */
export interface Allowance {
  starts: number
  windowMs: number
}

export interface KeyLimit {
  /** Requests per minute. */
  perMinute: number
  /** True: the limit that the service names is ignored. */
  isFinal: boolean
  /** Requests that may start at once; null: no more than in a minute. */
  burst: number | null
}

/** Requests per minute: the lower of the two figures that the specification gives for a plan. */
const PLANS: Record<Exclude<Plan, number>, number> = { free: 60, pro: 60, enterprise: 300 }

/** Requests per minute of a plan; a number is at least 1, whole and final. */
export function planLimit(plan: Plan): { perMinute: number; isFinal: boolean } {
  if (typeof plan === 'number') return { perMinute: Math.max(1, Math.floor(plan)), isFinal: true }
  return { perMinute: PLANS[plan], isFinal: false }
}

/** Saves in a row that may fail. Each of them means that another process saved, so few do. */
const MAX_SAVES = 1_000

/**
 * Keeps limits in the database: every process that uses it shares them, and they survive restarts.
 */
export function storedLimits(store: Pick<Store, 'loadLimit' | 'saveLimit'>): LimiterStore {
  return {
    async load(key) {
      const kept = await store.loadLimit(key)
      return kept && { state: JSON.parse(kept.state), version: kept.version }
    },
    save: (key, state, version) => store.saveLimit(key, JSON.stringify(state), version),
  }
}

/** The state of one key, shared by every process on its store. See decision 22. */
export class SharedState {
  readonly #key: string
  readonly #store: LimiterStore
  #last: Promise<unknown> = Promise.resolve()

  constructor({ key, store }: { key: string; store: LimiterStore }) {
    this.#key = key
    this.#store = store
  }

  /**
   * Saves the state that `change` makes of the stored one; giving back the same object writes
   * nothing. Calls it again when another process saved first. One change is made at a time.
   */
  update<T extends { state: LimiterState }>(change: (state: LimiterState) => T): Promise<T> {
    const mine = this.#last.then(() => this.#update(change))
    this.#last = mine.catch(() => {})
    return mine
  }

  async #update<T extends { state: LimiterState }>(change: (state: LimiterState) => T): Promise<T> {
    for (let attempt = 1; attempt <= MAX_SAVES; attempt++) {
      const { state, version } = await this.#load()
      const made = change(state)
      if (made.state === state || (await this.#store.save(this.#key, made.state, version))) return made
    }
    const what = `The LimiterStore refused ${MAX_SAVES.toLocaleString('en')} saves in a row.`
    const rule = '"save" gives true where the stored version, 0 for none, is the given one; then "load" gives the next.'
    throw new UpshotError('invalid_config', `${what} ${rule}`)
  }

  async #load(): Promise<{ state: LimiterState; version: number }> {
    const loaded = (await this.#store.load(this.#key)) ?? { state: OPEN_STATE, version: 0 }
    if (Array.isArray(loaded.state?.starts)) return loaded
    const found = typeof loaded.state === 'string' ? 'text: parse it as JSON' : typeof loaded.state
    throw new UpshotError('invalid_config', `The LimiterStore gave no state that "save" was given, but ${found}.`)
  }
}
