import { setImmediate as turn } from 'node:timers/promises'
import type { ManualClock } from '../../core/time.ts'
import { quietly } from '../pass/own-work.ts'
import type { Parking } from '../pass/parking.ts'

/** An answer that waits for its turn. */
interface Waiting {
  /** When the outcome comes, in the time of the play. */
  at: number
  /** The place of a recorded outcome; undefined for a new one. */
  number: number | undefined
  deliver: () => void
}

interface TurnParts {
  clock: ManualClock
  parking: Pick<Parking, 'isBusy' | 'idle' | 'isClosed'>
  /** True where the play cannot know what comes first: then time stands still. */
  isOpen: () => boolean
}

/**
 * Hands answers to the code one at a time. Recorded ones come in the order of their run, new ones
 * by time. Between two, the code goes as far as it can.
 */
export class Turns {
  readonly #parts: TurnParts
  #waiting: Waiting[] = []
  #isRunning = false

  constructor(parts: TurnParts) {
    this.#parts = parts
  }

  /** Resolves in the turn of an answer. `at`: when it comes, in epoch milliseconds. */
  wait(at: number, number?: number): Promise<void> {
    return new Promise((deliver) => {
      this.#waiting.push({ at, number, deliver })
      if (!this.#isRunning) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    const { parking, clock } = this.#parts
    while (this.#waiting.length > 0 && !parking.isClosed) {
      await quietly(() => turn())
      const next = this.#choose()
      if (next === null) {
        if (!parking.isBusy) break
        await parking.idle()
        continue
      }
      this.#waiting = this.#waiting.filter((each) => each !== next)
      if (next.at > clock.now()) clock.set(next.at)
      next.deliver()
    }
    this.#isRunning = false
  }

  /** Null where nothing may come now: a read is at work, or something nobody knows comes first. */
  #choose(): Waiting | null {
    const recorded = minBy(this.#waiting, ({ number }) => number)
    const fresh = minBy(this.#waiting, ({ number, at }) => (number === undefined ? at : undefined))
    const { clock, parking, isOpen } = this.#parts
    const mustWait = fresh !== null && fresh.at > clock.now() && (parking.isBusy || isOpen())
    if (recorded === null) return mustWait ? null : fresh
    if (fresh === null || mustWait) return recorded
    return fresh.at < recorded.at ? fresh : recorded
  }
}

/** The item with the smallest value; those without one do not count. */
function minBy<T>(items: readonly T[], rankOf: (item: T) => number | undefined): T | null {
  let least: { item: T; value: number } | null = null
  for (const item of items) {
    const value = rankOf(item)
    if (value !== undefined && (least === null || value < least.value)) least = { item, value }
  }
  return least?.item ?? null
}
