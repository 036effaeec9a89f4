import { setImmediate as turn } from 'node:timers/promises'
import TinyQueue from 'tinyqueue'
import type { ManualClock } from '../../core/time.ts'
import { quietly } from '../pass/own-work.ts'
import type { Parking } from '../pass/parking.ts'

interface Waiting {
  /** When the outcome comes, in the time of the preview. */
  at: number
  /** The place of a recorded outcome; undefined for a new one. */
  number: number | undefined
  /** Answers of one place, or of one time, come in the order in which they were asked for. */
  order: number
  deliver: () => void
}

interface TurnParts {
  clock: ManualClock
  parking: Pick<Parking, 'isBusy' | 'idle' | 'isClosed'>
  /** True where the preview cannot know what comes first: then time stands still. */
  isOpen: () => boolean
}

/**
 * Hands answers to the code one at a time. Recorded ones come in the order of their run, new ones
 * by time. Between two, the code goes as far as it can.
 */
export class Turns {
  readonly #parts: TurnParts
  /** By their place in the run. */
  readonly #recorded = new TinyQueue<Waiting>([], byPlace)
  /** By their time. */
  readonly #fresh = new TinyQueue<Waiting>([], byTime)
  /** Steps that nothing answers. */
  #unanswered: (() => void)[] = []
  #asked = 0
  #isRunning = false

  constructor(parts: TurnParts) {
    this.#parts = parts
  }

  /** Resolves in the turn of an answer. `at`: when it comes, in epoch milliseconds. */
  wait(at: number, number?: number): Promise<void> {
    return new Promise((deliver) => {
      this.#queueOf(number).push({ at, number, order: this.#asked++, deliver })
      if (!this.#isRunning) void this.#run()
    })
  }

  /** Resolves where no other answer may come: one that comes could decide a race. */
  standstill(): Promise<void> {
    return new Promise((deliver) => {
      this.#unanswered.push(deliver)
      if (!this.#isRunning) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    const { parking, clock } = this.#parts
    while (!parking.isClosed) {
      await quietly(() => turn())
      const next = this.#choose()
      if (next === null) {
        if (!parking.isBusy) break
        await parking.idle()
        continue
      }
      this.#queueOf(next.number).pop()
      if (next.at > clock.now()) clock.set(next.at)
      next.deliver()
    }
    this.#isRunning = false
    for (const deliver of this.#unanswered.splice(0)) deliver()
  }

  #queueOf(number: number | undefined): TinyQueue<Waiting> {
    return number === undefined ? this.#fresh : this.#recorded
  }

  /** Null where nothing may come now: a read is at work, or something nobody knows comes first. */
  #choose(): Waiting | null {
    const [recorded = null, fresh = null] = [this.#recorded.peek(), this.#fresh.peek()]
    const { clock, parking, isOpen } = this.#parts
    const mustWait = fresh !== null && fresh.at > clock.now() && (parking.isBusy || isOpen())
    if (recorded === null) return mustWait ? null : fresh
    if (fresh === null || mustWait) return recorded
    return fresh.at < recorded.at ? fresh : recorded
  }
}

function byPlace(one: Waiting, other: Waiting): number {
  return Number(one.number) - Number(other.number) || one.order - other.order
}

function byTime(one: Waiting, other: Waiting): number {
  return one.at - other.at || one.order - other.order
}
