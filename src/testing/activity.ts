import { setImmediate as turn } from 'node:timers/promises'

/** Tells that something moved: a store call, a notice, a pause of the Files client. */
export class Activity {
  #waiting: ((stirred: boolean) => void)[] = []

  stir(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake(true)
  }

  /** Resolves after the next stir and the turn it came in; false when nothing stirs for `patienceMs` of real time. */
  async next(patienceMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#waiting.push(resolve)
    const timer = setTimeout(() => resolve(false), patienceMs)
    const stirred = await promise
    clearTimeout(timer)
    // What the stir set off asks for its own next step within the turn.
    await turn()
    return stirred
  }
}
