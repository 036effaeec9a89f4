import { UpshotError } from '../../core/errors.ts'

const WINDOW_MS = 60_000

/** Counts attempts by key within a minute, and refuses those above a limit. */
export class Attempts {
  readonly #most: number
  readonly #mostInAll: number
  #startedAt = 0
  #counts = new Map<string, number>()

  /** `most` for each key, and `mostInAll` for all of them together. */
  constructor(most: number, mostInAll = Infinity) {
    this.#most = most
    this.#mostInAll = mostInAll
  }

  /** Throws `too_many_requests` with `retryAt` once the limit is reached. */
  check(key: string, now: number): void {
    if (now >= this.#startedAt + WINDOW_MS || now < this.#startedAt) {
      this.#startedAt = now
      this.#counts.clear()
    }
    const inAll = this.#counts.values().reduce((sum, count) => sum + count, 0)
    if ((this.#counts.get(key) ?? 0) < this.#most && inAll < this.#mostInAll) return
    throw new UpshotError('too_many_requests', 'Too many attempts within a minute.', {
      details: { retryAt: this.#startedAt + WINDOW_MS, fix: 'Wait a minute, then try again.' },
    })
  }

  count(key: string): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
  }
}
