import { type Clock, type Duration, ManualClock, parseDuration } from '../../core/time.ts'

/** Something else that keeps the same time. */
interface Follower {
  now(): number
  advance(ms: number): Promise<unknown>
}

/** The one clock of a testbed, which stands still but for {@link moveTo}. */
export class VirtualTime {
  readonly clock: ManualClock
  #follower: Follower | null = null

  constructor(now: number) {
    this.clock = new ManualClock(now)
  }

  /** From now on `follower` is moved first, so that whoever wakes up finds it on time. */
  followedBy(follower: Follower): void {
    this.#follower = follower
  }

  /** A clock whose timers can all be taken back at once. */
  lend(): { clock: Clock; takeBack: () => void } {
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
    const takeBack = () => {
      for (const cancel of [...cancels]) cancel()
    }
    return { clock: { now: () => this.clock.now(), at }, takeBack }
  }

  /** Goes to `moment` and fires what is due on the way. Never goes back. */
  async moveTo(moment: number): Promise<void> {
    const follower = this.#follower
    if (follower && follower.now() < moment) await follower.advance(moment - follower.now())
    if (moment > this.clock.now()) this.clock.set(moment)
  }

  /** Goes forward by a duration, timer by timer; `settle` is awaited at each stop. */
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
