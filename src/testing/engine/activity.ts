import { setImmediate as turn } from 'node:timers/promises'

/** Silence is counted in this many intervals, so that a delayed process does not look silent. */
const PARTS = 10

/** Signals that something moved: a store call, a notice, a pause of the Files client. */
export class Activity {
  #waiting: ((stirred: boolean) => void)[] = []

  stir(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake(true)
  }

  /**
   * Resolves with true after the next stir and its turn. False after `patienceMs` of real time
   * without a stir.
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
    // Code woken by the stir makes its own next call within this turn.
    await turn()
    return stirred
  }
}
