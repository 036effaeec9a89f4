import type { Clock } from '../../core/time.ts'

/** Tokens per retry. */
const COST = 5

/** One token comes back in this time. */
const REFILL_MS = 1_000

/**
 * Tokens that pay for retries, so that a failing service does not get several times its usual load.
 */
export class RetryQuota {
  readonly #clock: Clock
  readonly #capacity: number
  #tokens: number
  #refilledAt: number

  constructor(clock: Clock, capacity: number) {
    this.#clock = clock
    this.#capacity = capacity
    this.#tokens = capacity
    this.#refilledAt = clock.now()
  }

  /** Takes the tokens of one retry; false when too few are left. */
  take(): boolean {
    this.#refill()
    if (this.#tokens < COST) return false
    this.#tokens -= COST
    return true
  }

  /** Gives one token back after a success. */
  reward(): void {
    this.#tokens = Math.min(this.#capacity, this.#tokens + 1)
  }

  /** Adds one token per second. */
  #refill(): void {
    const now = this.#clock.now()
    const earned = Math.max(0, Math.floor((now - this.#refilledAt) / REFILL_MS))
    this.#tokens = Math.min(this.#capacity, this.#tokens + earned)
    this.#refilledAt = earned > 0 || now < this.#refilledAt ? now : this.#refilledAt
  }
}
