import { resolve } from 'node:path'
import { untilAborted } from './until-aborted.ts'

/** Downloads to one path follow each other: two at once would write into the same part. */
export class TargetQueue {
  readonly #last = new Map<string, Promise<unknown>>()

  /**
   * Does `work` once all work before it on the same path has ended; rejects at once when the signal
   * aborts.
   */
  async run<T>(to: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const path = resolve(to)
    const before = this.#last.get(path) ?? Promise.resolve()
    const mine = untilAborted(before, signal).then(work)
    const settled = Promise.allSettled([before, mine])
    this.#last.set(path, settled)
    void settled.then(() => {
      if (this.#last.get(path) === settled) this.#last.delete(path)
    })
    return mine
  }
}
