import type { VirtualTime } from './virtual-time.ts'

/**
 * Lets pauses of Files API calls pass, which no test should have to advance. Time moves while every
 * open call is pausing.
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

  /** An open call pauses until a moment. */
  begin(until: number): void {
    this.#until.push(until)
    this.#check()
  }

  /** Stops moving time. */
  end(): void {
    this.#isOver = true
  }

  /** Deferred by a turn, in which a finished call may start the next one. */
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
