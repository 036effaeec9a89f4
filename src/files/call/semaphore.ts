/** Requests to a storage that are in flight at once. Each has a connection of its own. */
export const MAX_IN_FLIGHT = 128

/**
 * Holds a request back while so many others are in flight. The calls of a long list would open
 * thousands of connections at once. Most of those would not be there in time.
 */
export class Semaphore {
  #free = MAX_IN_FLIGHT
  readonly #waiting = new Set<() => void>()

  /** Sends in the order of asking. Rejects with the signal's reason where that comes first. */
  async run<T>(signal: AbortSignal, send: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1
    else await this.#wait(signal)
    try {
      return await send()
    } finally {
      this.#leave()
    }
  }

  async #wait(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const giveUp = () => {
      this.#waiting.delete(resolve)
      reject(signal.reason)
    }
    signal.throwIfAborted()
    this.#waiting.add(resolve)
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#free += 1
    else {
      this.#waiting.delete(next)
      next()
    }
  }
}
