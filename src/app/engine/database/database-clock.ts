import type { ReadStore } from '../../../core/store/store.ts'
import { type Clock, systemClock } from '../../../core/time.ts'

/** Questions at the start; the fastest bound the error best. */
const FIRST_LOOKS = 8
const LOOK_EVERY_MS = 5_000
/** Longest timer: a correction of the clock counts within this time. */
const MAX_TIMER_MS = 1_000
/** Longest time for which it stands still: one that is further behind was set back. */
const MAX_STILL_MS = 60_000
/** Timers up to this long end by uptime, where the clock was set back. Longer ones are moments. */
const MAX_SHORT_MS = 30_000

/** The clock of the database, which all processes share, whatever the machine's is set to. */
export class DatabaseClock implements Clock {
  readonly #store: Pick<ReadStore, 'readClock'>
  /** Its time when this process's uptime was 0. */
  #origin: number
  #last = 0
  #look: NodeJS.Timeout | null = null

  private constructor(store: Pick<ReadStore, 'readClock'>, origin: number) {
    this.#store = store
    this.#origin = origin
  }

  /** The machine's clock for a store that has none of its own. `stop` ends the corrections. */
  static async follow(store: Pick<ReadStore, 'readClock'>): Promise<{ clock: Clock; stop: () => void }> {
    const moment = await store.readClock()
    if (moment === null) return { clock: systemClock, stop: () => {} }
    const clock = new DatabaseClock(store, moment - performance.now())
    for (let looks = 0; looks < FIRST_LOOKS; looks++) await clock.#correct()
    clock.#lookAgain()
    return { clock, stop: () => clock.#stop() }
  }

  /** Where it was ahead, it stands still for so long. Only one that was set back goes back. */
  now(): number {
    const time = Math.floor(this.#origin + performance.now())
    if (time > this.#last || time < this.#last - MAX_STILL_MS) this.#last = time
    return this.#last
  }

  /** How far it is ahead of the clock of this machine. */
  get offsetMs(): number {
    return this.#origin + performance.now() - Date.now()
  }

  uptime(): number {
    return performance.now()
  }

  at(moment: number, wake: () => void): () => void {
    let timer: NodeJS.Timeout
    const longestMs = moment - this.now()
    const lateAt = longestMs > MAX_SHORT_MS ? Infinity : performance.now() + longestMs + MAX_STILL_MS
    const isDue = () => this.now() >= moment || performance.now() >= lateAt
    const arm = () => {
      const waitMs = moment - this.now()
      // A timer of Node may be a millisecond early, so it asks again.
      timer = setTimeout(() => (isDue() ? wake() : arm()), Math.min(Math.max(waitMs, 0), MAX_TIMER_MS))
    }
    arm()
    return () => clearTimeout(timer)
  }

  /** An answer proves that the origin is between two bounds; it is moved into them. */
  async #correct(): Promise<void> {
    const askedAt = performance.now()
    const moment = await this.#store.readClock()
    if (moment === null) return
    const [least, most] = [moment - performance.now(), moment + 1 - askedAt]
    this.#origin = Math.min(Math.max(this.#origin, least), most)
  }

  #lookAgain(): void {
    const look = () => {
      // A database that is gone has no time to tell; the clock goes on from what is known.
      void this.#correct()
        .catch(() => {})
        .finally(() => this.#look !== null && this.#lookAgain())
    }
    this.#look = setTimeout(look, LOOK_EVERY_MS).unref()
  }

  #stop(): void {
    if (this.#look) clearTimeout(this.#look)
    this.#look = null
  }
}
