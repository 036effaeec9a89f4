import { type Clock, systemClock } from '../../core/time.ts'

/** The machine's clock, set forward: nobody waits for a sleep. */
export class RehearsalClock implements Clock {
  #aheadMs = 0
  readonly #timers = new Map<() => void, { moment: number; cancel: () => void }>()

  now(): number {
    return systemClock.now() + this.#aheadMs
  }

  at(moment: number, wake: () => void): () => void {
    const fire = () => {
      this.#timers.delete(fire)
      wake()
    }
    this.#arm(fire, moment)
    return () => {
      this.#timers.get(fire)?.cancel()
      this.#timers.delete(fire)
    }
  }

  /** Never goes back. */
  forwardTo(moment: number): void {
    this.#aheadMs = Math.max(this.#aheadMs, moment - systemClock.now())
    for (const [fire, { moment: due, cancel }] of this.#timers) {
      cancel()
      this.#arm(fire, due)
    }
  }

  #arm(fire: () => void, moment: number): void {
    this.#timers.set(fire, { moment, cancel: systemClock.at(moment - this.#aheadMs, fire) })
  }
}
