import type { Clock } from '../../core/time.ts'

const COST = 5
const REFILL_MS = 1_000

/**
 * Tokens that retries are paid with, so that a service in trouble is not hit several times as hard.
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

  /** Pays for one retry; false when there is not enough left. */
  take(): boolean {
    this.#refill()
    if (this.#tokens < COST) return false
    this.#tokens -= COST
    return true
  }

  /** A success gives one token back. */
  reward(): void {
    this.#tokens = Math.min(this.#capacity, this.#tokens + 1)
  }

  /** One token a second: a quiet client is forgiven. */
  #refill(): void {
    const now = this.#clock.now()
    const earned = Math.max(0, Math.floor((now - this.#refilledAt) / REFILL_MS))
    this.#tokens = Math.min(this.#capacity, this.#tokens + earned)
    this.#refilledAt = earned > 0 || now < this.#refilledAt ? now : this.#refilledAt
  }
}
