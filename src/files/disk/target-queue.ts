import { resolve } from 'node:path'

/** Runs downloads to one path one after the other: two at once would write the same part. */
export class TargetQueue {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Runs `work` after all earlier work on the path. Rejects at once when the signal aborts. */
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

/** Resolves when `other` settles. Rejects with the signal's reason when that aborts first. */
export function untilAborted(other: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    const settle = () => {
      signal.removeEventListener('abort', abort)
      resolve()
    }
    other.then(settle, settle)
  })
}
