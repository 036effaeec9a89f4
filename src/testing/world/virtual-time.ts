import { type Clock, type Duration, ManualClock, parseDuration } from '../../core/time.ts'

/** Another clock that keeps the same time. */
interface Follower {
  now(): number
  advance(ms: number): Promise<unknown>
}

/** The testbed's clock. Only {@link moveTo} moves it. */
export class VirtualTime {
  readonly clock: ManualClock
  #follower: Follower | null = null

  constructor(now: number) {
    this.clock = new ManualClock(now)
  }

  /** Moves `follower` before the clock, so that code that wakes up sees it on time. */
  moveFirst(follower: Follower): void {
    this.#follower = follower
  }

  /** A clock whose timers can all be canceled at once. */
  openTimers(): { clock: Clock; cancelAll: () => void } {
    const cancels = new Set<() => void>()
    const at: Clock['at'] = (moment, wake) => {
      const cancelTimer = this.clock.at(moment, () => {
        cancels.delete(cancel)
        wake()
      })
      const cancel = () => {
        cancels.delete(cancel)
        cancelTimer()
      }
      cancels.add(cancel)
      return cancel
    }
    const cancelAll = () => {
      for (const cancel of [...cancels]) cancel()
    }
    return { clock: { now: () => this.clock.now(), at }, cancelAll }
  }

  /** Moves to `moment`, firing timers on the way. Never goes back. */
  async moveTo(moment: number): Promise<void> {
    const follower = this.#follower
    if (follower && follower.now() < moment) await follower.advance(moment - follower.now())
    if (moment > this.clock.now()) this.clock.set(moment)
  }

  /** Moves forward from timer to timer, awaiting `settle` at each. */
  async advance(duration: Duration, settle: () => Promise<void>): Promise<void> {
    const target = this.clock.now() + parseDuration(duration)
    await settle()
    for (let next = this.clock.nextAt(); next !== null && next <= target; next = this.clock.nextAt()) {
      await this.moveTo(next)
      await settle()
    }
    await this.moveTo(target)
    await settle()
  }
}
