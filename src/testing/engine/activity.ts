import { setImmediate as turn } from 'node:timers/promises'

/**
 * A pause of silence is counted in so many parts: one in which the process itself was held up is
 * one part only.
 */
const PARTS = 10

/** Tells that something moved: a store call, a notice, a pause of the Files client. */
export class Activity {
  #waiting: ((stirred: boolean) => void)[] = []

  stir(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake(true)
  }

  /**
   * Resolves after the next stir and the turn it came in; false when nothing stirs for `patienceMs`
   * of real time.
   */
  async next(patienceMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#waiting.push(resolve)
    let silent = 0
    const timer = setInterval(() => {
      silent += 1
      if (silent === PARTS) resolve(false)
    }, patienceMs / PARTS)
    const stirred = await promise
    clearInterval(timer)
    // What the stir set off asks for its own next step within the turn.
    await turn()
    return stirred
  }
}
