interface Calls {
  /** The newest call that stands alone. */
  alone: Promise<unknown> | null
  newest: Promise<unknown>
}

/**
 * Lets the calls about one run take effect in their order, and those about others side by side.
 * Calls of one queue keep their order in it, so that they wait for no other of the queue.
 */
export class RunOrder {
  readonly #calls = new Map<string, Calls>()

  /** Performs a call after all before it of the run. */
  perform<T>(runId: string, call: () => Promise<T>): Promise<T> {
    const before = this.#calls.get(runId)
    const done = before === undefined ? call() : before.newest.then(call, call)
    this.#keep(runId, { alone: done, newest: done })
    return done
  }

  /** Adds a call to the queue after those of the run that stand alone. */
  queue<T>(runId: string, call: () => Promise<T>): Promise<T> {
    const alone = this.#calls.get(runId)?.alone ?? null
    const done = alone === null ? call() : alone.then(call, call)
    this.#keep(runId, { alone, newest: done })
    return done
  }

  #keep(runId: string, calls: Calls): void {
    this.#calls.set(runId, calls)
    const forget = () => {
      if (this.#calls.get(runId) === calls) this.#calls.delete(runId)
    }
    calls.newest.then(forget, forget)
  }
}
