import { resolve } from 'node:path'
import { unlessAborted } from '../../core/thenable.ts'

/** Runs downloads to one path one after the other: two at once would write the same part. */
export class TargetQueue {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Runs `work` after all earlier work on the path. Rejects at once when the signal aborts. */
  async run<T>(to: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const path = resolve(to)
    const before = this.#last.get(path) ?? Promise.resolve()
    const mine = unlessAborted(before, signal).then(work)
    const settled = Promise.allSettled([before, mine])
    this.#last.set(path, settled)
    void settled.then(() => {
      if (this.#last.get(path) === settled) this.#last.delete(path)
    })
    return mine
  }
}
