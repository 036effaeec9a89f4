import type { VirtualTime } from './virtual-time.ts'

/**
 * Lets pauses within calls of the Files API pass: before a retry, or because the service said so. A
 * step cannot come to rest in the middle of one, and nobody wants to move the clock for it. Time
 * moves when every call under way does nothing but wait.
 */
export class CallPauses {
  readonly #time: VirtualTime
  #calls = 0
  #until: number[] = []
  #isChecking = false
  #isOver = false

  constructor(time: VirtualTime) {
    this.#time = time
  }

  async during<T>(perform: () => Promise<T>): Promise<T> {
    this.#calls += 1
    try {
      return await perform()
    } finally {
      this.#calls -= 1
      this.#check()
    }
  }

  /** A call under way waits until a moment. */
  begin(until: number): void {
    this.#until.push(until)
    this.#check()
  }

  /** Time stands still again, whoever waits. */
  end(): void {
    this.#isOver = true
  }

  /** A turn later: whoever finishes a call may begin the next one in this turn. */
  #check(): void {
    if (this.#isChecking || this.#isOver) return
    this.#isChecking = true
    setImmediate(async () => {
      this.#isChecking = false
      const now = this.#time.clock.now()
      this.#until = this.#until.filter((moment) => moment > now)
      if (this.#isOver || this.#until.length === 0 || this.#until.length < this.#calls) return
      await this.#time.moveTo(Math.min(...this.#until))
      this.#check()
    })
  }
}
